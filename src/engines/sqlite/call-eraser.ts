/** Erases calls of tools so that none of their words remain in the database file; see `row-eraser.ts`. */
import { part } from "../store-shared/scripts/script.ts";
import type { CallRemover, createCallRemovals } from "../store-shared/scripts/tool-calls.ts";
import type { SqliteEngine } from "./engine.ts";
import { createRowEraser, type ErasedRow, sharedBytes } from "./row-eraser.ts";
import type { Bound } from "./scripts.ts";

export type CallRemovals = Bound<ReturnType<typeof createCallRemovals>>;

export function createCallEraser(engine: SqliteEngine): CallRemover {
  const eraseTexts = createRowEraser(engine, {
    ...{ table: "tool_call_texts", ranges: "erased_call_ranges", owner: "call_number", words: ["text"] },
    columns: "call_number, is_result, text",
  });
  const selectTexts = engine.query<ErasedRow, [number]>(
    `SELECT number, ${sharedBytes} FROM tool_call_texts WHERE call_number = ?`,
  );
  const deleteCall = engine.query<null, [number]>("DELETE FROM tool_calls WHERE number = ?");

  return (numbers) =>
    part(() => {
      eraseTexts(numbers.flatMap((number) => selectTexts.all(number)));
      for (const number of numbers) deleteCall.run(number);
    });
}
