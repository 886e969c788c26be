/** Gives an anonymous conversation to a verified visitor. */
import type { TakingVisitor } from "../../contracts/store/conversations.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import { isVerifiedId } from "../../domain/visitor.ts";
import { isArrivalMark } from "./arrival-marks.ts";
import type { PostgresEngine } from "./engine.ts";
import { lockVisitorsAlone } from "./erasures.ts";
import { callRemovals } from "./removal-rows.ts";

const shareCompanion = "SELECT share_companions(ARRAY[$1::text])";
const takeOver = `UPDATE conversations SET visitor_id = $4, sealed_visitor = $5
  WHERE companion_id = $1 AND session_id = $2 AND visitor_id = $3 AND NOT EXISTS (
    SELECT FROM conversations own WHERE own.companion_id = $1 AND own.session_id = $2 AND own.visitor_id = $4
  )`;
/** Their transcripts are still to come. */
const takeCallsOver = `UPDATE voice_sessions SET visitor_id = $4, sealed_visitor = $5
  WHERE companion_id = $1 AND visitor_id = $3 AND session_id = $2 AND NOT is_taken`;

/** As `add_messages` asks it: by the erasures that the request's snapshot does not show. */
const selectErasure = `SELECT FROM erasures WHERE (companion_id, visitor_id) IN (($1, $3), ('', ''))
  AND (session_id IS NULL OR session_id = $2) AND transaction < pg_snapshot_xmax(pg_current_snapshot())
  AND NOT pg_visible_in_snapshot(transaction, $4::text::pg_snapshot) LIMIT 1`;

/** As `ConversationStore.merge`. */
export async function mergeConversation(
  engine: PostgresEngine,
  from: ConversationKey,
  visitor: TakingVisitor,
): Promise<boolean> {
  const { companionId, sessionId, visitorId } = from;
  if (isVerifiedId(visitorId)) return false;
  const { arrivalMark = null } = visitor;
  // If nobody knows when the request arrived, its visitor may have been erased since.
  if (arrivalMark !== null && (typeof arrivalMark !== "string" || !isArrivalMark(arrivalMark))) return false;
  const anonymousId = visitorId ?? "";
  return await engine.write(async (transaction) => {
    // The order of locks is that of settled turns. Nothing is settled for either visitor, or erased, until this ends:
    // so nobody makes the visitor's own conversation between the look for it and the change.
    await transaction.run(shareCompanion, [companionId]);
    await lockVisitorsAlone(transaction, companionId, [anonymousId, visitor.id]);
    if (arrivalMark !== null) {
      const erasure = await transaction.get(selectErasure, [companionId, sessionId, visitor.id, arrivalMark]);
      if (erasure !== null) return false;
    }
    const parameters = [companionId, sessionId, anonymousId, visitor.id, visitor.sealed];
    if ((await transaction.run(takeOver, parameters)) === 0) return false;
    await transaction.run(takeCallsOver, parameters);
    await callRemovals.giveAll(transaction, from, visitor.id);
    return true;
  });
}
