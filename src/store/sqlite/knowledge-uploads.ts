/** What is to be read of sources: uploads in pieces, each written in a commit of its own. */
import type { SourceUpload } from "../contract/knowledge.ts";
import { extendPieces, fromPaddedBlob, orphanedAfterMs, toPaddedBlob, toUploadPieces } from "../rows/knowledge.ts";
import type { SqliteEngine } from "./engine.ts";
import type { Removals } from "./removals.ts";

export type KnowledgeUploads = ReturnType<typeof createKnowledgeUploads>;

export function createKnowledgeUploads(engine: SqliteEngine, removals: Removals) {
  const insertPiece = engine.query<null, [string, number, number, Uint8Array]>(
    "INSERT INTO knowledge_uploads (upload_id, piece, created_at, bytes) VALUES (?, ?, ?, ?)",
  );
  const putPiece = engine.query<null, [string, number, number, Uint8Array]>(
    `INSERT INTO knowledge_uploads (upload_id, piece, created_at, bytes) VALUES (?, ?, ?, ?)
     ON CONFLICT (upload_id, piece) DO UPDATE SET bytes = excluded.bytes`,
  );
  const selectLast = engine.query<{ piece: number; bytes: Uint8Array }, [string]>(
    "SELECT piece, bytes FROM knowledge_uploads WHERE upload_id = ? ORDER BY piece DESC LIMIT 1",
  );
  const selectPiece = engine.query<{ bytes: Uint8Array }, [string, number]>(
    "SELECT bytes FROM knowledge_uploads WHERE upload_id = ? AND piece = ?",
  );
  // By the index of uploads alone, but for the time.
  const selectOrphans = engine.query<{ id: string }, [number, number]>(
    `SELECT upload_id AS id FROM knowledge_uploads AS u WHERE piece = 0 AND created_at <= ?
       AND NOT EXISTS (SELECT 1 FROM knowledge_sources WHERE upload_id = u.upload_id)
       AND NOT EXISTS (SELECT 1 FROM removals WHERE kind = 'upload' AND target_id = u.upload_id) LIMIT ?`,
  );

  const remove = (uploadId: string, nowMs: number) => removals.add("upload", uploadId, 0, nowMs);

  return {
    /** Stores the pieces, then whatever `commit` writes; if that is nothing, the pieces are removed. */
    async storeBefore<T>(
      upload: SourceUpload | null | undefined,
      nowMs: number,
      commit: () => Promise<T | null>,
    ): Promise<T | null> {
      if (upload == null) return await commit();
      let isKept = false;
      try {
        for (const [piece, bytes] of toUploadPieces(upload.bytes).entries()) {
          const blob = toPaddedBlob(bytes);
          await engine.append(() => insertPiece.run(upload.id, piece, nowMs, blob));
        }
        const done = await commit();
        isKept = done !== null;
        return done;
      } finally {
        // Should this fail too, they are found as orphans later.
        if (!isKept) void engine.append(() => remove(upload.id, nowMs)).then(removals.start, () => {});
      }
    },

    /** Call it inside a write, with few bytes: they are in the same commit. */
    append(uploadId: string, bytes: Uint8Array, nowMs: number): void {
      const last = selectLast.get(uploadId);
      const pieces = extendPieces(last === null ? null : fromPaddedBlob(last.bytes), bytes);
      for (const [at, piece] of pieces.entries()) {
        putPiece.run(uploadId, (last?.piece ?? 0) + at, nowMs, toPaddedBlob(piece));
      }
    },

    /** Call it inside a write, and `removals.start` after it. */
    remove,

    read: (uploadId: string, piece: number): Promise<Uint8Array | null> =>
      engine.read(() => {
        const row = selectPiece.get(uploadId, piece);
        return row === null ? null : fromPaddedBlob(row.bytes);
      }),

    async purge(nowMs: number, limit: number): Promise<number> {
      const orphans = await engine.read(() => selectOrphans.all(nowMs - orphanedAfterMs, limit));
      if (orphans.length === 0) return 0;
      await engine.append(() => {
        for (const { id } of orphans) remove(id, nowMs);
      });
      removals.start();
      return orphans.length;
    },
  };
}
