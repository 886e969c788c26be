/** Published editions that lack vectors of a model. */
import type { KnowledgeStore, UnembeddedEdition } from "../../contracts/store/knowledge.ts";
import type { SqliteEngine } from "./engine.ts";

export const unembeddedQueries = {
  nextModel: `SELECT model FROM knowledge_editions INDEXED BY knowledge_editions_embedded
    WHERE is_embedded = ? AND model > ? ORDER BY model LIMIT 1`,
  list: `SELECT e.number AS edition, s.chunks, e.model, s.account_id AS accountId, s.companion_id AS companionId,
      c.created_by_key_id AS keyId
    FROM knowledge_editions AS e INDEXED BY knowledge_editions_embedded
    CROSS JOIN knowledge_sources AS s ON s.number = e.source_number AND s.edition = e.number
    CROSS JOIN companions AS c ON c.id = s.companion_id
    WHERE e.is_embedded = ? AND e.model IS ? AND e.number > ? ORDER BY e.number LIMIT ?`,
};

/** Models are few: each has a stretch of the index, where its editions are in order. */
export function createUnembeddedList(engine: SqliteEngine): KnowledgeStore["listUnembedded"] {
  const selectNextModel = engine.query<{ model: string }, [0 | 1, string]>(unembeddedQueries.nextModel);
  const select = engine.query<UnembeddedEdition, [0 | 1, string | null, number, number]>(unembeddedQueries.list);

  function* listModels(isEmbedded: 0 | 1): Generator<string | null> {
    yield null;
    for (let next = selectNextModel.get(isEmbedded, ""); next !== null; ) {
      yield next.model;
      next = selectNextModel.get(isEmbedded, next.model);
    }
  }

  return (model, afterEdition, limit) =>
    engine.read(() => {
      const found: UnembeddedEdition[] = [];
      for (const isEmbedded of [0, 1] as const) {
        for (const other of listModels(isEmbedded)) {
          if (isEmbedded === 1 && other === model) continue;
          found.push(...select.all(isEmbedded, other, afterEdition, limit));
        }
      }
      return found.sort((one, other) => one.edition - other.edition).slice(0, limit);
    });
}
