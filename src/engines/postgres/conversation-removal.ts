/** How conversations are deleted: at once from all lists, their messages in chunks behind it. */
import { emptyDeliveries } from "../store-shared/scripts/told-events.ts";

/** `$1` is the time in milliseconds. The statement's count is that of the conversations. */
export const deleteConversations = (condition: string) =>
  `WITH gone AS (DELETE FROM conversations WHERE ${condition} RETURNING id, number),
     emptied AS (${emptyDeliveries("conversation_id IN (SELECT id FROM gone)")})
   INSERT INTO removals (kind, target_id, target_number, created_at)
   SELECT 'conversation', id, number, $1::bigint FROM gone ORDER BY number`;
