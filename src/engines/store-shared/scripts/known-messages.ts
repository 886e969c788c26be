/** Messages that are stored under a client's name for them, as a decision on a conversation sees them. */
import type { RevisionRequest } from "../../../contracts/store/handoffs.ts";
import { feedbackQueries } from "./feedback.ts";
import { get, type Script } from "./script.ts";

/** For tests of their plans. */
export const knownMessageQueries = {
  ofVisitor: `SELECT m.seq, CASE WHEN m.end_code IN ('taken', 'cancelled') THEN NULL ELSE m.id END AS "unansweredId"
    FROM messages m WHERE m.conversation_number = $1 AND m.client_id = $2 AND m.role = 'user'`,
  ofPerson: `SELECT seq, NULL AS "unansweredId" FROM message_authors
    WHERE conversation_number = $1 AND client_id = $2`,
};

type Known = { seq: number; unansweredId: string | null };

/** Null where no name was asked for, or no message has it. */
export function* findKnown({ clientId, clientIdOf }: RevisionRequest, number: number): Script<Known | null> {
  if (clientId === null) return null;
  const text = clientIdOf === "visitor" ? knownMessageQueries.ofVisitor : knownMessageQueries.ofPerson;
  const known = yield* get<Known>(text, number, clientId);
  if (known === null || known.unansweredId === null) return known;
  const reply = yield* get(feedbackQueries.reply, number, clientId);
  return reply === null ? known : { ...known, unansweredId: null };
}
