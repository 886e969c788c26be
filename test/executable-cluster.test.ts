/** A small part of what `bun run faults --cluster` does to three instances, PostgreSQL and Redis. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { clusterCases } from "../faults/cluster.ts";
import { runCase } from "../faults/cluster-case.ts";
import { createContext, listFailures } from "../faults/row.ts";
import { type Cluster, startCluster } from "./support/cluster.ts";

/** Another one would do as well, but what fails here should fail again. */
const seed = 20_261_122;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster[Symbol.asyncDispose]());

for (const one of clusterCases) {
  test(`stands ${one.title}`, async () => {
    expect(listFailures(await runCase(one, cluster, createContext("tiny", seed)))).toEqual([]);
  }, 300_000);
}
