/** The rows of `bun run faults --cluster`: three instances, PostgreSQL and Redis, and everything that may happen to them. */
import { revocationCase, rollingCase } from "./cluster-calm.ts";
import { type ClusterCase, rowOf } from "./cluster-case.ts";
import { peoplePostgresCase } from "./cluster-crowd.ts";
import { burstCase, killCase } from "./cluster-kill.ts";
import { announcementsCase, peopleKillCase } from "./cluster-listeners.ts";
import { networkRow, partitionCase } from "./cluster-partition.ts";
import { resumeCase } from "./cluster-resume.ts";
import { postgresCase, redisCase } from "./cluster-servers.ts";
import { peopleCase } from "./people-races.ts";
import type { FaultRow } from "./row.ts";

export const clusterCases: readonly ClusterCase[] = [
  killCase,
  burstCase,
  resumeCase,
  postgresCase,
  redisCase,
  partitionCase,
  revocationCase,
  rollingCase,
  peopleCase,
  announcementsCase,
  peopleKillCase,
  peoplePostgresCase,
];

export const clusterRows: readonly FaultRow[] = [...clusterCases.map(rowOf), networkRow];
