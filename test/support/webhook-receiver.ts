/** An owner's server that receives events, on loopback. */
import { Webhook } from "standardwebhooks";
import { validatorAt } from "./conformance.ts";
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
  /** Throws if an event did not conform to the API document. */
  close(): Promise<void>;
}

export function startWebhookReceiver(): WebhookReceiver {
  let events: ReceivedEvent[] = [];
  const faults: string[] = [];
  const isDocumented = validatorAt("/components/schemas/WebhookEvent");
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
      if (!isDocumented(JSON.parse(body))) faults.push(`${body}: ${JSON.stringify(isDocumented.errors?.[0])}`);
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
    async close() {
      await server.stop(true);
      if (faults.length > 0) throw new Error(`not as the API document has it: ${faults.join("\n")}`);
    },
  };
}
