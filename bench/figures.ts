/** What a run of the benchmark has measured. */
import type { KnowledgeReport } from "./knowledge/report.ts";
import type { KeyCheckFigures } from "./micro/api-key.ts";
import type { MetadataFigures } from "./micro/metadata.ts";
import type { SharedRow } from "./shared.ts";
import type { DiskFigures } from "./slow-disk.ts";
import type { StartFigures } from "./start-up.ts";
import type { LeavingFigures, MemoryFigures, StreamFigures } from "./streams.ts";
import type { RequestFigures } from "./wrk.ts";

/** What was measured of one server; a load that failed is missing. */
export interface StreamRow {
  name: string;
  one?: StreamFigures;
  eight?: StreamFigures;
  lockStep?: StreamFigures;
  request?: StreamFigures;
  paced?: StreamFigures;
  first1?: StreamFigures;
  first50?: StreamFigures;
  first500?: StreamFigures;
}

export interface Report {
  /** In how many rounds the streams were measured. */
  rounds: number;
  /** Of the build that is measured; none where there is no strace. */
  disk: DiskFigures[];
  streams: StreamRow[];
  memory: { name: string; thousand: MemoryFigures; fiveThousand: MemoryFigures }[];
  leaving: ({ name: string } & LeavingFigures)[];
  config: ({ name: string; cpuMicros: number } & RequestFigures)[];
  start: { companiond: StartFigures; helloWorld: StartFigures; bunMiB: number } | null;
  micro: { keyCheck: KeyCheckFigures; limiterText: string } | null;
  metadata: MetadataFigures | null;
  knowledge: KnowledgeReport | null;
  shared: { rows: SharedRow[]; metadata: MetadataFigures } | null;
}

/** What the benchmark is to show. */
export interface Goal {
  what: string;
  isReached: boolean;
  figure: string;
}
