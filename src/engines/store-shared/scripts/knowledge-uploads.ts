/** What is to be read of sources: uploads in pieces, each written in a commit of its own. */
import type { SourceUpload } from "../../../contracts/store/knowledge.ts";
import { AppError } from "../../../domain/errors.ts";
import { extendPieces, fromPaddedBlob, orphanedAfterMs, toPaddedBlob, toUploadPieces } from "../rows/knowledge.ts";
import { addRemoval } from "./removals.ts";
import { all, get, insert, insertionOf, runAll, type Script, type ScriptRunner } from "./script.ts";

export type KnowledgeUploads = ReturnType<typeof createKnowledgeUploads>;

export const uploadQueries = {
  piece: "SELECT bytes FROM knowledge_uploads WHERE upload_id = $1 AND piece = $2",
};
const selectLast = "SELECT piece, bytes FROM knowledge_uploads WHERE upload_id = $1 ORDER BY piece DESC LIMIT 1";
const insertPiece = insertionOf("knowledge_uploads", ["uploadId", "piece", "createdAt", "bytes"], "");
const selectOrphans = `SELECT u.upload_id AS id FROM knowledge_uploads u WHERE u.piece = 0 AND u.created_at <= $1
    AND NOT EXISTS (SELECT 1 FROM knowledge_sources s WHERE s.upload_id = u.upload_id)
    AND NOT EXISTS (SELECT 1 FROM removals r WHERE r.kind = 'upload' AND r.target_id = u.upload_id)
  ORDER BY u.upload_id LIMIT $2`;

const remove = (uploadId: string, nowMs: number) => addRemoval("upload", uploadId, 0, nowMs);

export function createKnowledgeUploads(scripts: ScriptRunner, removals: { start(): void }) {
  /** Should this fail too, the pieces are found as an orphan later. */
  async function takeBack(uploadId: string, nowMs: number): Promise<void> {
    try {
      await scripts.writeHeavy(() => remove(uploadId, nowMs));
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
        const row = { uploadId: upload.id, piece, createdAt: nowMs, bytes: toPaddedBlob(bytes) };
        await scripts.writeHeavy(() => insert("knowledge_uploads", row));
      }
      try {
        const done = await commit();
        if (done === null) await takeBack(upload.id, nowMs);
        return done;
      } catch (error) {
        // Of a commit whose connection was lost, the outcome is unknown; others are certainly undone.
        if (!(error instanceof AppError && error.code === "unavailable")) await takeBack(upload.id, nowMs);
        throw error;
      }
    },

    /** Call it inside a write: all of them are in the same commit. */
    *add(many: readonly SourceUpload[], nowMs: number): Script<void> {
      const rows = many.flatMap(({ id, bytes }) =>
        toUploadPieces(bytes).map((piece, at) => [id, at, nowMs, toPaddedBlob(piece)] as const),
      );
      yield* runAll(insertPiece, rows);
    },

    /** Call it inside a write that has locked the source, with few bytes: they are in the same commit. */
    *append(uploadId: string, bytes: Uint8Array, nowMs: number): Script<void> {
      const last = yield* get<{ piece: number; bytes: Uint8Array }>(selectLast, uploadId);
      const pieces = extendPieces(last === null ? null : fromPaddedBlob(last.bytes), bytes);
      for (const [at, more] of pieces.entries()) {
        const row = { uploadId, piece: (last?.piece ?? 0) + at, createdAt: nowMs, bytes: toPaddedBlob(more) };
        yield* insert("knowledge_uploads", row, "ON CONFLICT (upload_id, piece) DO UPDATE SET bytes = excluded.bytes");
      }
    },

    /** Call it inside a write, and `removals.start` after it. */
    remove,

    async read(uploadId: string, piece: number): Promise<Uint8Array | null> {
      const row = await scripts.readHeavy(() => get<{ bytes: Uint8Array }>(uploadQueries.piece, uploadId, piece));
      return row === null ? null : fromPaddedBlob(row.bytes);
    },

    async purge(nowMs: number, limit: number): Promise<number> {
      const orphans = await scripts.readHeavy(() => all<{ id: string }>(selectOrphans, nowMs - orphanedAfterMs, limit));
      if (orphans.length === 0) return 0;
      await scripts.writeHeavy(function* () {
        for (const { id } of orphans) yield* remove(id, nowMs);
      });
      removals.start();
      return orphans.length;
    },
  };
}
