/** An owner's server that is told of events, on loopback. */
import { Webhook } from "standardwebhooks";
import { eventually } from "./eventually.ts";

export interface ReceivedEvent {
  id: string;
  headers: Record<string, string>;
  /** As it came. */
  body: string;
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

export interface WebhookReceiver {
  url: string;
  /** In the order of arrival. */
  readonly events: readonly ReceivedEvent[];
  readonly types: readonly string[];
  /** Null: 204. */
  respond(next: ((event: ReceivedEvent) => Response | Promise<Response>) | null): void;
  /** Resolves when so many have arrived. */
  have(count: number): Promise<void>;
  /** Throws unless the standard's own library verifies the event. */
  verify(event: ReceivedEvent | undefined, secret: string): void;
  forget(): void;
  close(): Promise<void>;
}

export function startWebhookReceiver(): WebhookReceiver {
  let events: ReceivedEvent[] = [];
  let answer: ((event: ReceivedEvent) => Response | Promise<Response>) | null = null;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    async fetch(request) {
      const body = await request.text();
      const headers = Object.fromEntries(request.headers);
      const event = { id: headers["webhook-id"] ?? "", headers, body, ...JSON.parse(body) };
      events.push(event);
      return (await answer?.(event)) ?? new Response(null, { status: 204 });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/in`,
    get events() {
      return events;
    },
    get types() {
      return events.map(({ type }) => type);
    },
    respond(next) {
      answer = next;
    },
    have: (count) => eventually(() => events.length >= count, { what: `${count} events` }),
    verify(event, secret) {
      // By the clock of the test, which may be elsewhere than the library's.
      const sentAtMs = Number(event?.headers["webhook-timestamp"]) * 1000;
      const signature = new Webhook(secret).sign(event?.id ?? "", new Date(sentAtMs), event?.body ?? "");
      if (signature !== event?.headers["webhook-signature"]) throw new Error("the signature is not the secret's");
    },
    forget() {
      events = [];
    },
    close: () => server.stop(true),
  };
}
