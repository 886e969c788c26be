/** tmp */
import { createSignInFailures } from "../../src/coordination/sign-in-failures.ts";
import { createDailyReservations } from "../../src/store/postgres/coordination/daily-reservations.ts";
import { Tickets } from "../../src/store/postgres/coordination/tickets.ts";
import { createTurnGate } from "../../src/store/postgres/coordination/turn-gate.ts";
import { WaitingTurns } from "../../src/store/postgres/coordination/waiting-turns.ts";
import { createEngine } from "../../src/store/postgres/open.ts";
import { createOpenTickets } from "../../src/store/postgres/open-tickets.ts";
import { testCoordinationContract } from "../contracts/coordination.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { createMigratedDatabase } from "../support/postgres-store.ts";

testCoordinationContract("PostgreSQL", async (clock) => {
  const db = await createMigratedDatabase();
  const engine = createEngine({ url: db.url, pool: 10, poolHeavy: 2, log: createCapturedLog() });
  const tickets = new Tickets({
    pool: engine.quickPool,
    instanceNumber: 1,
    clock,
    tickets: createOpenTickets(),
    log: createCapturedLog(),
  });
  const waiting = new WaitingTurns({ tickets, queries: engine.quick });
  tickets.onGone(({ queueKey }) => {
    if (queueKey !== null) waiting.tellNext(queueKey);
  });
  return {
    coordination: {
      turns: createTurnGate({ clock, tickets, waiting }),
      voiceSessions: createDailyReservations(clock, tickets),
      arrivals: { mark: () => "" },
      signInFailures: createSignInFailures(clock),
    },
    async keep(kind, companionId, day) {
      const [m, v] = kind === "message" ? [1, 0] : [0, 1];
      await engine.quick.run(
        `INSERT INTO quota_daily AS q (companion_id, day, messages, voice_sessions) VALUES ($1,$2,$3,$4)
        ON CONFLICT (companion_id, day) DO UPDATE SET messages = q.messages + excluded.messages, voice_sessions = q.voice_sessions + excluded.voice_sessions`,
        [companionId, day, m, v],
      );
    },
    async close() {
      waiting.close();
      await tickets.close();
      await engine.close();
      await db.drop();
    },
  };
});
