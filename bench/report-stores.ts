/** The part of the report about storage engines: several servers on one database, and metadata. */
import type { Report } from "./figures.ts";
import { fixed, table } from "./markdown.ts";
import type { MetadataFigures } from "./micro/metadata.ts";

export function renderShared({ shared }: Report): string {
  if (shared === null) return "";
  const [first] = shared.rows;
  const rows = shared.rows.map((row) => [
    row.name,
    fixed(row.turnsPerSecond, 0),
    fixed(row.turnsPerSecond / (first?.turnsPerSecond ?? Number.NaN)),
    fixed(row.serverMicros, 0),
    fixed(row.databaseMicros, 0),
    fixed(row.configsPerSecond, 0),
    fixed(row.configMicros, 1),
  ]);
  const names = [
    "store",
    "turns/s",
    "× SQLite",
    "server's µs a turn",
    "PostgreSQL's µs",
    "configs/s",
    "server's µs a config",
  ];
  return [
    "## Several servers on one PostgreSQL",
    "Load, model, servers, PostgreSQL and Redis share two cores, so more servers cannot be faster here; `docs/scaling.md` says when they are. Turns of one chunk, each its own conversation, 64 at once, four companions.",
    table(names, rows),
    renderMetadata(shared.metadata, "PostgreSQL"),
  ].join("\n\n");
}

export function renderMetadata(metadata: MetadataFigures | null, store: string): string {
  if (metadata === null) return "";
  const { companions, buildSeconds, indexMiB, restMiB, queries, creation } = metadata;
  const queryRows = queries.map((each) => [
    each.name,
    each.found,
    fixed(each.p50Ms, 3),
    fixed(each.p99Ms, 3),
    fixed(each.maxMs),
  ]);
  const creationRows = creation.map((each) => [
    each.name,
    fixed(each.plainMicros, 1),
    fixed(each.withMetadataMicros, 1),
    fixed(each.withMetadataMicros / each.plainMicros),
  ]);
  return [
    `## Metadata on ${store}: ${companions} companions of one account`,
    `Six fields each, built in ${fixed(buildSeconds, 0)} s. The index takes ${fixed(indexMiB, 0)} MiB beside ${fixed(restMiB, 0)} MiB of everything else (${fixed(indexMiB / restMiB)}). First pages of 20, in the store.`,
    table(["filter", "found", "p50 ms", "p99 ms", "max ms"], queryRows),
    table(["creation", "µs without metadata", "µs with", "×"], creationRows),
  ].join("\n\n");
}
