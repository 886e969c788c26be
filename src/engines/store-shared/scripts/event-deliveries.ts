/** What engines share where they store events, and where the subjects of events are deleted. */

/** Announces that deliveries were stored. */
export class DeliveryBell {
  #listener: (() => void) | null = null;

  listen(listener: () => void): void {
    this.#listener = listener;
  }

  ring(): void {
    this.#listener?.();
  }
}

/**
 * Empties deliveries: those that wait are dropped. Call it with what is about to be deleted, or was;
 * where an event is emitted in the same transaction, after that.
 */
export const emptyDeliveries = (condition: string) => `UPDATE webhook_deliveries SET data = NULL, content = NULL,
    session_id = NULL, visitor_id = NULL, sealed_visitor = NULL, due_at = NULL,
    problem = CASE WHEN state = 'waiting' THEN 'What the event was about has been deleted.' ELSE problem END,
    state = CASE WHEN state = 'waiting' THEN 'dropped' ELSE state END
  WHERE data IS NOT NULL AND ${condition}`;

/** Up to `limit`. */
export const emptySomeDeliveries = (condition: string, limit: string) =>
  emptyDeliveries(
    `number IN (SELECT number FROM webhook_deliveries WHERE ${condition} AND data IS NOT NULL LIMIT ${limit})`,
  );
