/** Mixed load with 5 % faults for any length of time: memory, descriptors and the database's log do not grow. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { chat } from "../test/support/chat.ts";
import { readMetrics } from "../test/support/metrics.ts";
import { chatRequest, connectRaw } from "../test/support/raw-visitor.ts";
import { settledKiB } from "../test/support/resident-memory.ts";
import { apiFaults, type Client } from "./client.ts";
import { type FaultRow, type Form, type RowContext, Tally } from "./row.ts";
import {
  makeCompanion,
  makeOwner,
  openDatabaseFiles,
  openDescriptors,
  openSockets,
  openWorld,
  threadsOf,
  type World,
} from "./world.ts";

const workers = 6;
/** Of each phase in the test suite: a slow machine is to do no less. */
const tinyActions = 150;
const metricsToken = "metrics-token-of-the-operator";
const walLimitMiB = 64;
/** The server's connection and the thread's two have three each, and their log is synced through one more. */
const databaseFilesLimit = 10;

interface Sample {
  memoryKiB: number;
  /** Without connections, which clients keep open for a while. */
  files: number;
  databaseFiles: number;
  threads: number;
  walKiB: number;
}

export const loadRow: FaultRow = {
  name: "load",
  title: "mixed load with 5 % faults",
  story:
    "Visitors, owners and platforms at work; in one action of twenty something goes wrong: visitors who vanish," +
    " failing providers, bytes that are not HTTP. At every pause the process is measured: memory of the last " +
    "third against the second, file descriptors, threads, the database's write-ahead log.",
  async run(context) {
    const tally = new Tally([...apiFaults, "chats without a complete reply", "calls with a wrong response"]);
    await using world = await openWorld({ env: { COMPANIOND_METRICS_TOKEN: metricsToken } });
    const listening = openSockets(world.server.pid);
    const owner = await makeOwner(world, tally, "load");
    // One after the other, on one connection: the client keeps them all.
    const companions = [];
    for (let count = 0; count < 10; count++) companions.push(await makeCompanion(owner.client));
    const load = new Load(world, owner.client, companions, tally, context);

    // At least twelve rests, and one every five minutes of a long run.
    const phases = context.form === "tiny" ? 3 : Math.max(12, Math.round(context.minutes / 5));
    const samples: Sample[] = [];
    for (let phase = 0; phase < phases; phase++) {
      await load.run(
        context.form === "tiny" ? untilCounted(tinyActions) : untilMs((context.minutes * 60_000) / phases),
      );
      await world.mock.until(() => world.mock.openRequests === 0);
      samples.push(await takeSample(world));
      // The mock provider's history of an hour must not count as a leak.
      world.mock.requests.length = 0;
      context.say(`${phase + 1} of ${phases}: ${JSON.stringify(samples.at(-1))}`);
    }
    if (context.form !== "tiny") tally.did("minutes", context.minutes);
    judge(samples, tally, context.form);
    // Idle connections of clients end after a while; those to the provider are kept longer, and the mock counts them.
    const countLeft = () => openSockets(world.server.pid) - listening - world.mock.openConnections;
    // In the test suite nobody waits until those of the workers have ended.
    const kept = context.form === "tiny" ? workers : 0;
    for (let look = 0; look < 300 && countLeft() > kept; look++) await Bun.sleep(100);
    tally.atMost("connections left at the end", countLeft(), kept);
    const { value } = readMetrics(
      await (await fetch(`${world.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })).text(),
    );
    tally.equal("unexpected failures", value("companiond_defects_total"), 0);
    tally.equal("calls that found storage unavailable", value("companiond_store_failures_total"), 0);
    tally.equal("streams open at rest", value("companiond_streams_open"), 0);
    tally.equal("exit code after SIGTERM", await world.server.stop(), 0);
    return tally.outcome();
  },
};

async function takeSample({ server }: World): Promise<Sample> {
  return {
    memoryKiB: await settledKiB(server.pid),
    files: openDescriptors(server.pid) - openSockets(server.pid),
    databaseFiles: openDatabaseFiles(server.pid),
    threads: threadsOf(server.pid),
    walKiB: Math.round(statSync(join(server.dataDir, "companiond.db-wal")).size / 1024),
  };
}

/** Compares the last third of the rests with the second: during the first, caches fill. */
function judge(samples: readonly Sample[], tally: Tally, form: Form): void {
  const third = Math.floor(samples.length / 3);
  const of = (part: readonly Sample[], field: keyof Sample) => part.map((sample) => sample[field]);
  const before = samples.slice(third, 2 * third);
  const after = samples.slice(2 * third);
  const least = (field: keyof Sample) => [Math.min(...of(before, field)), Math.min(...of(after, field))] as const;
  const [memoryBefore, memoryAfter] = least("memoryKiB");
  const [filesBefore, filesAfter] = least("files");
  // The runtime ends its idle threads after a while, and so does the server: what counts is more than there ever were.
  const threadsBefore = Math.max(...of(samples.slice(0, 2 * third), "threads"));
  const threadsAfter = Math.min(...of(after, "threads"));
  tally.did("samples at rest", samples.length);
  tally.did("MiB of memory in the second third", Math.round(memoryBefore / 1024));
  // A few seconds of load prove nothing about memory.
  const memoryLimitKiB = form === "tiny" ? Number.POSITIVE_INFINITY : memoryBefore * 1.15;
  tally.atMost("MiB of memory in the last", Math.round(memoryAfter / 1024), Math.ceil(memoryLimitKiB / 1024));
  tally.atMost("more open files than before", filesAfter - filesBefore, 0);
  tally.atMost("open files of the database", Math.max(...of(samples, "databaseFiles")), databaseFilesLimit);
  tally.atMost("more threads than before", threadsAfter - threadsBefore, 2);
  tally.atMost("MiB of the database's log at most", Math.max(...of(samples, "walKiB")) / 1024, walLimitMiB);
}

function untilCounted(actions: number): () => boolean {
  let count = 0;
  return () => count++ >= actions;
}

function untilMs(durationMs: number): () => boolean {
  const endMs = performance.now() + durationMs;
  return () => performance.now() >= endMs;
}

type Step = () => Promise<void>;

class Load {
  #sessions: string[] = [];
  readonly #made: string[] = [];

  constructor(
    private readonly world: World,
    private readonly client: Client,
    private readonly companions: readonly { id: string; token: string }[],
    private readonly tally: Tally,
    private readonly context: RowContext,
  ) {}

  /** `isOver` is asked before each action. */
  async run(isOver: () => boolean): Promise<void> {
    const { random } = this.context;
    const worker = async () => {
      while (!isOver()) {
        const isFault = random.below(100) < 5;
        await (isFault ? this.#makeFault() : this.#work());
        await Bun.sleep(random.below(40));
      }
    };
    await Promise.all(Array.from({ length: workers }, worker));
  }

  get #companion(): { id: string; token: string } {
    const [first = { id: "", token: "" }, ...others] = this.companions;
    return this.context.random.pick([first, ...others]);
  }

  async #work(): Promise<void> {
    const { id, token } = this.#companion;
    const chance = this.context.random.below(100);
    if (chance < 45) return this.#chat(token);
    if (chance < 65) return this.#expect("GET", `/api/embed/${token}`, 200);
    if (chance < 70) return this.#expect("GET", `/avatars/${token}.svg`, 200);
    if (chance < 75) return this.#expect("GET", `/c/${token}`, 200);
    if (chance < 80) return this.#make();
    if (chance < 84) return this.#expect("PATCH", `/api/companions/${id}`, 200, { greeting: `Hello ${chance}` });
    if (chance < 88) return this.#remove();
    if (chance < 92) return this.#expect("GET", `/api/conversations?limit=20&companion_id=${id}`, 200);
    if (chance < 96) return this.#expect("GET", "/api/usage?group_by=day,companion", 200);
    return this.#expect("GET", "/api/companions?metadata.kind=load", 200);
  }

  async #expect(method: string, path: string, status: number, body?: object): Promise<void> {
    const response = await this.client.send({ method, path, ...(body ? { body } : {}) });
    if (response.status !== status) {
      this.tally.fault("calls with a wrong response", `${method} ${path}: ${response.status} ${response.text}`);
    }
  }

  async #chat(token: string): Promise<void> {
    const { random } = this.context;
    const old = random.below(3) === 0 ? this.#sessions[random.below(this.#sessions.length)] : undefined;
    const sessionId = old ?? crypto.randomUUID();
    this.#sessions = [...this.#sessions.slice(-50), sessionId];
    const message = `[[words:${1 + random.below(80)}]]`;
    const response = await chat(this.world.url, token, { message, session_id: sessionId });
    this.tally.did("chats");
    if (!response.isDone) {
      this.tally.fault("chats without a complete reply", `${response.status} ${response.raw.slice(-200)}`);
    }
  }

  async #make(): Promise<void> {
    const { random } = this.context;
    const fields = {
      metadata: { kind: "load", number: random.below(50) },
      system_prompt: "x".repeat(random.below(4_000)),
    };
    this.#made.push((await makeCompanion(this.client, fields)).id);
  }

  async #remove(): Promise<void> {
    const id = this.#made.shift();
    if (id !== undefined) await this.#expect("DELETE", `/api/companions/${id}`, 204);
  }

  async #makeFault(): Promise<void> {
    const { random, tally } = { random: this.context.random, tally: this.tally };
    const { token } = this.#companion;
    const faults: [string, Step][] = [
      ["visitors who vanish midway", () => this.#vanish(token)],
      ["bytes that are not HTTP", () => this.#sendRaw(`\x16\x03\x01${"\0".repeat(random.below(300))}\r\n\r\n`)],
      ["requests that end in the middle", () => this.#sendRaw(chatRequest(token, { message: "half" }).slice(0, -9))],
      ["bodies that are not JSON", () => this.#expectChat(token, "{", 400)],
      ["unknown tokens", () => this.#expect("GET", `/api/embed/emb_${"0".repeat(32)}`, 404)],
      ["unknown keys", async () => void (await fetch(`${this.world.url}/api/companions`, badKey))],
      ...["[[cut:2]]", "[[reset:2]]", "[[garbage:2]]", "[[error:1]]", "[[fail:400]]", "[[html]]"].map(
        (message): [string, Step] => ["providers in trouble", () => this.#sendTrouble(token, message)],
      ),
    ];
    const [what, step] = faults[random.below(faults.length)] ?? ["", async () => {}];
    await step();
    tally.did(`faults: ${what}`);
  }

  async #vanish(token: string): Promise<void> {
    const visitor = await connectRaw(this.world.url);
    visitor.write(chatRequest(token, { message: "[[words:200]][[delay:1]]" }));
    const events = this.context.random.below(40);
    await visitor.until((received) => received.split("data: ").length > events);
    visitor.vanish();
  }

  async #sendRaw(bytes: string): Promise<void> {
    const visitor = await connectRaw(this.world.url);
    visitor.write(bytes);
    await Bun.sleep(this.context.random.below(50));
    visitor.vanish();
    await visitor.closed;
  }

  async #expectChat(token: string, body: string, status: number): Promise<void> {
    const response = await chat(this.world.url, token, body);
    if (response.status !== status) this.tally.fault("calls with a wrong response", response.raw);
  }

  async #sendTrouble(token: string, message: string): Promise<void> {
    const response = await chat(this.world.url, token, { message });
    if (response.isDone) this.tally.fault("calls with a wrong response", `${message}: ${response.raw}`);
  }
}

const badKey = { headers: { authorization: `Bearer cmp_live_${"x".repeat(32)}` } };
