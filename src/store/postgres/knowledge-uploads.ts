/** What is to be read of sources: uploads in pieces, each written in a commit of its own. */
import { AppError } from "../../domain/errors.ts";
import type { SourceUpload } from "../contract/knowledge.ts";
import { extendPieces, fromPaddedBlob, orphanedAfterMs, toPaddedBlob, toUploadPieces } from "../rows/knowledge.ts";
import type { PostgresEngine } from "./engine.ts";
import type { Removals } from "./parts.ts";
import type { Queries } from "./queries.ts";

export type KnowledgeUploads = ReturnType<typeof createKnowledgeUploads>;

export const uploadQueries = {
  piece: "SELECT bytes FROM knowledge_uploads WHERE upload_id = $1 AND piece = $2",
};
const insertPiece = "INSERT INTO knowledge_uploads (upload_id, piece, created_at, bytes) VALUES ($1, $2, $3, $4)";
const putPiece = `${insertPiece} ON CONFLICT (upload_id, piece) DO UPDATE SET bytes = excluded.bytes`;
const selectLast = "SELECT piece, bytes FROM knowledge_uploads WHERE upload_id = $1 ORDER BY piece DESC LIMIT 1";
const selectOrphans = `SELECT u.upload_id AS id FROM knowledge_uploads u WHERE u.piece = 0 AND u.created_at <= $1
    AND NOT EXISTS (SELECT FROM knowledge_sources s WHERE s.upload_id = u.upload_id)
    AND NOT EXISTS (SELECT FROM removals r WHERE r.kind = 'upload' AND r.target_id = u.upload_id)
  ORDER BY u.upload_id LIMIT $2`;

export function createKnowledgeUploads(engine: PostgresEngine, removals: Removals) {
  const remove = (transaction: Queries, uploadId: string, nowMs: number) =>
    removals.add(transaction, "upload", uploadId, 0, nowMs);

  /** Should this fail too, the pieces are found as an orphan later. */
  async function takeBack(uploadId: string, nowMs: number): Promise<void> {
    try {
      await engine.writeHeavy((transaction) => remove(transaction, uploadId, nowMs));
      removals.start();
    } catch {
      // See above.
    }
  }

  return {
    /** Stores the pieces, then whatever `commit` writes; if that is nothing, the pieces are removed. */
    async storeBefore<T>(
      upload: SourceUpload | null | undefined,
      nowMs: number,
      commit: () => Promise<T | null>,
    ): Promise<T | null> {
      if (upload == null) return await commit();
      for (const [piece, bytes] of toUploadPieces(upload.bytes).entries()) {
        const blob = toPaddedBlob(bytes);
        await engine.writeHeavy((transaction) => transaction.run(insertPiece, [upload.id, piece, nowMs, blob]));
      }
      try {
        const done = await commit();
        if (done === null) await takeBack(upload.id, nowMs);
        return done;
      } catch (error) {
        // Of a commit whose connection was lost, nobody knows; others are certainly undone.
        if (!(error instanceof AppError && error.code === "unavailable")) await takeBack(upload.id, nowMs);
        throw error;
      }
    },

    /** Call it inside a write that has locked the source, with few bytes: they are in the same commit. */
    async append(transaction: Queries, uploadId: string, bytes: Uint8Array, nowMs: number): Promise<void> {
      const last = await transaction.get<{ piece: number; bytes: Uint8Array }>(selectLast, [uploadId]);
      const pieces = extendPieces(last === null ? null : fromPaddedBlob(last.bytes), bytes);
      for (const [at, piece] of pieces.entries()) {
        await transaction.run(putPiece, [uploadId, (last?.piece ?? 0) + at, nowMs, toPaddedBlob(piece)]);
      }
    },

    /** Call it inside a write, and `removals.start` after it. */
    remove,

    async read(uploadId: string, piece: number): Promise<Uint8Array | null> {
      const row = await engine.heavy.get<{ bytes: Uint8Array }>(uploadQueries.piece, [uploadId, piece]);
      return row === null ? null : fromPaddedBlob(row.bytes);
    },

    async purge(nowMs: number, limit: number): Promise<number> {
      const orphans = await engine.heavy.all<{ id: string }>(selectOrphans, [nowMs - orphanedAfterMs, limit]);
      if (orphans.length === 0) return 0;
      await engine.writeHeavy(async (transaction) => {
        for (const { id } of orphans) await remove(transaction, id, nowMs);
      });
      return orphans.length;
    },
  };
}
