/** One connection with a life of its own: the locks that it takes last as long as it does. */
import type { SQL } from "bun";
import { afterAnswerable } from "../../../lib/deadline.ts";
import { unavailable } from "../failures.ts";
import type { Parameter } from "../queries.ts";

export interface Session {
  /** Rejects, and ends the session, if there is no answer in time. */
  ask<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]>;
  /** Resolves when the connection is gone, from either side. */
  readonly ended: Promise<void>;
  readonly hasEnded: boolean;
  end(): void;
}

const connectMs = 5_000;
const answerMs = 2_000;

/** `connect` makes connections, and calls `onClose` when one ends. Rejects if there is none within 5 s. */
export async function openSession(connect: (onClose: () => void) => SQL): Promise<Session> {
  const ended = Promise.withResolvers<void>();
  let hasEnded = false;
  const noteEnd = () => {
    hasEnded = true;
    ended.resolve();
  };
  const sql = connect(noteEnd);
  const end = () => {
    noteEnd();
    void sql.close({ timeout: 0 }).catch(() => {});
  };

  async function inTime<T>(work: PromiseLike<T>, withinMs: number): Promise<T> {
    const late = Promise.withResolvers<never>();
    const cancel = afterAnswerable(withinMs, () => {
      late.reject(unavailable(new Error(`PostgreSQL did not answer within ${withinMs} ms`)));
      end();
    });
    try {
      return await Promise.race([work, late.promise]);
    } finally {
      cancel();
    }
  }

  try {
    // The driver would replace a connection that ends, but not a reserved one.
    const connection = await inTime(sql.reserve(), connectMs);
    return {
      async ask<Row>(text: string, parameters: readonly Parameter[] = []) {
        if (hasEnded) throw unavailable(new Error("the session has ended"));
        return (await inTime(connection.unsafe(text, parameters as Parameter[]), answerMs)) as Row[];
      },
      ended: ended.promise,
      get hasEnded() {
        return hasEnded;
      },
      end,
    };
  } catch (error) {
    end();
    throw error;
  }
}
