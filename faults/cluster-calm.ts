/** A cluster without faults: what is revoked at one instance, and restarts one after the other. */
import { type ApiClient, apiClient } from "../test/support/api-client.ts";
import type { Cluster } from "../test/support/cluster.ts";
import type { ClusterLedger } from "../test/support/cluster-ledger.ts";
import { eventually } from "../test/support/eventually.ts";
import {
  type ClusterCase,
  type ClusterSituation,
  judgeFates,
  letVisitorsTalk,
  pickInstance,
  type Visitors,
} from "./cluster-case.ts";
import type { Tally } from "./row.ts";

const revocations = { tiny: 6, short: 200, long: 1_000 };

export const revocationCase: ClusterCase = {
  name: "cluster-revocation",
  title: "revoked at one instance, asked at the others",
  story:
    "A key and an embed token are used at all three instances and revoked at one. The very next request at each of them " +
    "is refused, while visitors talk.",
  never: ["revoked embed tokens that open", "revoked keys that open", "calls with a wrong response"],
  async run(situation) {
    const { cluster, ledger, tally, context } = situation;
    await using visitors = letVisitorsTalk(ledger, cluster.url, 4);
    for (let round = 0; round < revocations[context.form]; round++) await revokeBoth(situation);
    await visitors.leave();
    judgeFates(tally, "calls with a wrong response", ledger.sent, () => false);
  },
};

async function revokeBoth({ cluster, ledger, tally, context }: ClusterSituation): Promise<void> {
  const expectStatus = (actual: number, expected: number, what: string) => {
    if (actual !== expected) tally.fault("calls with a wrong response", `${what}: ${actual}`);
  };
  const at = cluster.api(pickInstance(cluster, context.random).url);
  const path = `/api/companions/${ledger.companion.id}/embed-tokens`;
  const token = await at.call("POST", path);
  const key = await at.call("POST", "/api/keys", { name: "soon revoked", scopes: ["companions:read"] });
  expectStatus(token.status, 201, "creating a token");
  expectStatus(key.status, 201, "creating a key");
  const askToken = async (url: string) => {
    const headers = { "x-forwarded-for": `198.19.${context.random.below(256)}.${context.random.below(256)}` };
    return (await fetch(`${url}/api/embed/${token.json.token}`, { headers })).status;
  };
  const askKey = async (url: string) =>
    (await apiClient(url, key.json.key).call("GET", `/api/companions/${ledger.companion.id}`)).status;
  for (const { url } of cluster.all) {
    expectStatus(await askToken(url), 200, "a new token");
    expectStatus(await askKey(url), 200, "a new key");
  }

  const revoker = cluster.api(pickInstance(cluster, context.random).url);
  expectStatus((await revoker.call("DELETE", `${path}/${token.json.id}`)).status, 204, "revoking a token");
  for (const status of await Promise.all(cluster.all.map(({ url }) => askToken(url)))) {
    if (status !== 404) tally.fault("revoked embed tokens that open", String(status));
  }
  expectStatus((await revoker.call("DELETE", `/api/keys/${key.json.id}`)).status, 204, "revoking a key");
  for (const status of await Promise.all(cluster.all.map(({ url }) => askKey(url)))) {
    if (status !== 401) tally.fault("revoked keys that open", String(status));
  }
  tally.did("revocations", 2);
}

const restarts = { tiny: 1, short: 5, long: 20 };
const talking = { tiny: 6, short: 12, long: 12 };

export const rollingCase: ClusterCase = {
  name: "cluster-rolling",
  title: "all instances restarted one after the other",
  story:
    "Twelve visitors talk and a platform creates companions through nginx, while each instance is ended by SIGTERM and " +
    "started again in turn. No request fails.",
  never: ["failed messages", "failed calls", "exit codes other than 0"],
  async run({ cluster, ledger, tally, context }) {
    // What counts is that somebody talks whenever an instance goes, not how much.
    cluster.model.wordMs = 40;
    await using visitors = letVisitorsTalk(ledger, cluster.url, talking[context.form]);
    await using platform = letPlatformWork(cluster.api(), tally);
    for (let round = 0; round < restarts[context.form]; round++) {
      for (const instance of cluster.all) {
        await allTakePart(cluster, ledger);
        const exitCode = await instance.stop();
        if (exitCode !== 0) tally.fault("exit codes other than 0", `${instance.name}: ${exitCode}`);
        await instance.start();
        await eventually(() => instance.isReady(), { what: `instance ${instance.name} is ready` });
        tally.did("restarts");
      }
    }
    await Promise.all([platform.leave(), visitors.leave()]);
    judgeFates(tally, "failed messages", ledger.sent, () => false);
  },
};

/** nginx leaves one alone for a second that it could not reach; whoever restarts the next one waits for that. */
async function allTakePart({ all }: Cluster, ledger: ClusterLedger): Promise<void> {
  const known = ledger.calls.length;
  const takesPart = (name: string) => ledger.calls.slice(known).some(({ instance }) => instance === name);
  await eventually(() => all.every(({ name }) => takesPart(name)), { what: "visitors talk to all instances" });
}

function letPlatformWork(api: ApiClient, tally: Tally): Visitors {
  let isOver = false;
  const working = (async () => {
    while (!isOver) {
      const created = await api.call("POST", "/api/companions", { name: "Ada" }).catch(String);
      const status = typeof created === "string" ? created : created.status;
      if (status !== 201) tally.fault("failed calls", String(status));
      tally.did("companions created");
      await Bun.sleep(20);
    }
  })();
  async function leave(): Promise<void> {
    isOver = true;
    await working;
  }
  return { leave, [Symbol.asyncDispose]: leave };
}
