/** Erases messages and calls of tools so that none of their words remain in the database file; see `row-eraser.ts`. */
import { freeRepeats } from "../../domain/conversation.ts";
import type { StreamErrorCode } from "../../domain/stream-end.ts";
import { part } from "../store-shared/scripts/script.ts";
import type { CallRemover, createCallRemovals } from "../store-shared/scripts/tool-calls.ts";
import type { SqliteEngine } from "./engine.ts";
import { createRowEraser, type ErasedRow, sharedBytes } from "./row-eraser.ts";
import type { Bound } from "./scripts.ts";

export type MessageEraser = ReturnType<typeof createMessageEraser>;

export function createMessageEraser(engine: SqliteEngine) {
  const kept = `conversation_number, id, role, channel, complete, input_tokens, output_tokens, tokens_estimated, created_at,
     text, client_id, model, provider, finish_reason, companion_version, seq`;
  const eraseAll = createRowEraser(engine, {
    ...{ table: "messages", ranges: "erased_ranges", owner: "conversation_number", words: ["text", "client_id"] },
    columns: `${kept}, end_code, repeats`,
  });
  const selectRows = engine.query<ErasedRow, [number, number]>(
    `SELECT number, ${sharedBytes} FROM messages WHERE conversation_number = ? ORDER BY number LIMIT ?`,
  );
  const selectOne = engine.query<ErasedRow, [number]>(`SELECT number, ${sharedBytes} FROM messages WHERE number = ?`);
  const copyRepeated = engine.query<null, [string | null, number]>(
    `INSERT INTO messages (${kept}, end_code, repeats)
     SELECT ${kept}, ?, min(${freeRepeats}, ifnull(repeats, 0) + 1) FROM messages WHERE number = ?`,
  );

  return {
    /** Call it inside a write: erases up to `limit` messages of the conversation and returns how many. */
    erase(conversationNumber: number, limit: number): number {
      const rows = selectRows.all(conversationNumber, limit);
      eraseAll(rows);
      return rows.length;
    },

    /** Call it inside a write. A row that grows where it is could move others: it is copied to the end instead. */
    noteRepeat(number: number, endCode: StreamErrorCode | null): void {
      copyRepeated.run(endCode, number);
      eraseAll(selectOne.all(number));
    },
  };
}

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
