/** What a visitor has to do with people of the team: asks for one, listens, goes back, leaves a contact, and rates. */
import type { CallOptions, Connection } from "./connection.ts";
import { isHarmlessAgain } from "./connection.ts";
import type { Identity } from "./identity.ts";
import type { Ids } from "./ids.ts";
import { createListening, type LiveEvent, type LiveOptions } from "./live.ts";
import { joinSignals } from "./signals.ts";

/** How the conversation stands after an ask. */
export interface PersonAsked {
  state: "companion" | "waiting" | "person";
  until: string | null;
  available: boolean;
  /** When someone is available again; null while someone is, and where that is not known. */
  reopens_at: string | null;
  /** Whether `leaveContact` is taken now. */
  contact: boolean;
}

export interface Contact {
  email: string;
  name?: string | undefined;
  message?: string | undefined;
  /** The visitor has agreed to the configuration's `consent_text`. */
  consent: true;
}

export interface Rating {
  rating: "up" | "down" | null;
  reasons?: ("wrong" | "incomplete" | "unclear" | "off_topic" | "other")[];
  /** At most 1000 characters. */
  comment?: string;
}

type WorkOptions = CallOptions & { onChallenge?: ((isSolving: boolean) => void) | undefined };

export interface People {
  /**
   * Yields what is written in the conversation beyond `after`, who answers it, and when a person types, over all cuts of
   * the connection. Ends when the companion answers again, throws `replaced` where five others of this conversation
   * listen, and `not_found` before its first message.
   */
  live(options?: LiveOptions): AsyncGenerator<LiveEvent, void, undefined>;
  /** Asks for a person; again changes nothing. Throws `conflict` where visitors may not. */
  askForPerson(options?: WorkOptions & { reason?: string }): Promise<PersonAsked>;
  backToCompanion(options?: CallOptions): Promise<void>;
  /** Shows that the visitor types, for six seconds, or up to which `seq` people's messages were read. */
  mark(marks: { typing?: boolean; seen?: number }, options?: CallOptions): Promise<void>;
  /** Throws `conflict` where the companion does not offer it now. */
  leaveContact(contact: Contact, options?: WorkOptions): Promise<void>;
  /** Of a reply, by its `messageId`; the last one counts. */
  rate(messageId: string, rating: Rating, options?: CallOptions): Promise<void>;
  /** Whether the visitor's matter is resolved; null takes that back. */
  setResolved(isResolved: boolean | null, options?: CallOptions): Promise<void>;
}

export function createPeople(
  identity: Identity,
  ids: Ids,
  withWork: (onChallenge: WorkOptions["onChallenge"]) => Connection,
): People {
  const { connection } = identity;
  const listen = createListening(connection);
  const query = () => `session_id=${ids.sessionId}&visitor_id=${ids.visitorId}`;

  /** All of these may be sent twice. */
  async function send(
    by: Connection,
    [method, path]: [string, string],
    body: object,
    { signal, retries }: CallOptions,
    keepalive = false,
  ): Promise<Record<string, unknown>> {
    await identity.settle(signal);
    const all = { ...body, session_id: ids.sessionId, visitor_id: ids.visitorId };
    const init = { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(all), keepalive };
    return by.load(path, init, { signal, retries }, isHarmlessAgain);
  }

  return {
    async *live({ signal, ...options } = {}) {
      await identity.settle(signal);
      const joined = joinSignals(signal, identity.gone);
      try {
        yield* listen(() => `/live?${query()}`, { ...options, signal: joined.signal });
      } finally {
        joined.release();
      }
    },
    askForPerson: async ({ reason, onChallenge, ...call } = {}) =>
      (await send(withWork(onChallenge), ["POST", "/person"], { reason }, call)) as unknown as PersonAsked,
    async backToCompanion(call = {}) {
      await identity.settle(call.signal);
      await connection.load(`/person?${query()}`, { method: "DELETE" }, call, isHarmlessAgain);
    },
    async mark(marks, call = {}) {
      // It is often the last that a page has to send.
      await send(connection, ["POST", "/live"], marks, call, true);
    },
    async leaveContact(contact, { onChallenge, ...call } = {}) {
      await send(withWork(onChallenge), ["POST", "/contact"], contact, call);
    },
    async rate(messageId, rating, call = {}) {
      await send(connection, ["PUT", `/ratings/${encodeURIComponent(messageId)}`], rating, call);
    },
    async setResolved(resolved, call = {}) {
      await send(connection, ["PUT", "/resolved"], { resolved }, call);
    },
  };
}
