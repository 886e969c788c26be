/** A small part of what `bun run faults --cluster` does to three instances, PostgreSQL and Redis. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { clusterCases } from "../faults/cluster.ts";
import { runCase } from "../faults/cluster-case.ts";
import { createContext, listFailures } from "../faults/row.ts";
import { type Cluster, startCluster } from "./support/cluster.ts";
import { isFull } from "./support/full.ts";

/** Another one would do as well, but what fails here should fail again. */
const seed = 20_261_122;

let cluster: Cluster;
beforeAll(async () => {
  // Each connection is a process of PostgreSQL's, and instances start again and again.
  cluster = await startCluster({ env: { COMPANIOND_DATABASE_POOL: "4", COMPANIOND_DATABASE_POOL_HEAVY: "2" } });
});
afterAll(() => cluster[Symbol.asyncDispose]());

/** In `full` alone, and what of the gate comes next to it. */
const onlyInFull = new Map([
  ["one instance cut off by the network itself", "another row cuts one off from its servers"],
  ["a day's quota used up under kills", "another row kills; test/store/postgres-coordination.test.ts, of the day"],
  ["kill -9 of the instance that has just kept a person's message", "another row loses what it would have announced"],
  ["PostgreSQL away under a thousand listeners", "test/api/live-outage.test.ts, of a server and its listeners"],
  ["lost streams, resumed at another instance", "test/api/replies-elsewhere.test.ts, of two servers"],
]);

for (const one of clusterCases.filter(({ title }) => isFull || !onlyInFull.has(title))) {
  test(`stands ${one.title}`, async () => {
    expect(listFailures(await runCase(one, cluster, createContext("tiny", seed)))).toEqual([]);
  }, 300_000);
}
