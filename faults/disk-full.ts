/**
 * A disk that fills up while the server works and is then freed: writes are refused, reads are served, nothing is lost.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chat } from "../test/support/chat.ts";
import { apiFaults } from "./client.ts";
import { type FaultRow, skipped, Tally } from "./row.ts";
import { clientOf, listAll, makeCompanion, makeOwner, openWorld } from "./world.ts";

const fills = { tiny: 1, short: 5, long: 20 };
const sizeMiB = 24;

export const diskFullRow: FaultRow = {
  name: "disk-full",
  title: "a data directory that fills up repeatedly",
  story:
    "The data directory fills up again and again. Writes must be refused with 503 or stored completely, reads " +
    "must keep working, and once there is space again everything must work without a restart.",
  async run({ form }) {
    const disk = mountSmallDisk();
    if (disk === null) return skipped("a small disk needs a tmpfs, and mounting one needs root with that right");
    try {
      return await fillAndEmpty(disk, fills[form]);
    } finally {
      Bun.spawnSync(["umount", disk]);
      rmSync(disk, { recursive: true, force: true });
    }
  },
};

function mountSmallDisk(): string | null {
  const path = mkdtempSync(join(tmpdir(), "companiond-disk-"));
  const mount = Bun.which("mount");
  const isMounted =
    process.platform === "linux" &&
    mount !== null &&
    Bun.spawnSync([mount, "-t", "tmpfs", "-o", `size=${sizeMiB}m,mode=0700`, "tmpfs", path], { stderr: "ignore" })
      .exitCode === 0;
  if (isMounted) return path;
  rmSync(path, { recursive: true });
  return null;
}

async function fillAndEmpty(disk: string, rounds: number) {
  const tally = new Tally([
    ...apiFaults,
    "writes on a full disk that were neither kept nor refused with 503",
    "reads refused on a full disk",
    "chats on a full disk that ended in [DONE]",
    "writes refused with space",
    "acknowledged companions lost",
  ]);
  await using world = await openWorld({ dataDir: join(disk, "data") });
  const { key } = await makeOwner(world, tally, "disk");
  const client = clientOf(world, tally, key, [503]);
  const companion = await makeCompanion(client);
  const acknowledged = new Set<string>();
  const filler = join(disk, "filler");
  const big = "x".repeat(30_000);
  const write = async () => {
    const path = "/api/companions";
    const { status, json, text } = await client.send({ method: "POST", path, body: { name: "B", system_prompt: big } });
    if (status === 201) acknowledged.add(json.id);
    return { status, isRefused: status === 503 && json.code === "unavailable", text };
  };
  for (let round = 0; round < rounds; round++) {
    for (let count = 0; count < 3; count++) {
      const { status, text } = await write();
      tally.did("writes with space");
      if (status !== 201) tally.fault("writes refused with space", `${status} ${text}`);
    }
    fill(filler);
    tally.did("times full");
    let refused = 0;
    // Writes that still fit into the database's log are stored; after that none are.
    for (let attempt = 0; refused < 20 && attempt < 2_000; attempt++) {
      const { status, isRefused, text } = await write();
      tally.did("writes on a full disk");
      if (isRefused) refused++;
      else if (status !== 201) {
        tally.fault("writes on a full disk that were neither kept nor refused with 503", `${status} ${text}`);
      }
    }
    tally.did("writes refused", refused);
    for (const path of [`/api/companions/${companion.id}`, "/api/companions", `/api/embed/${companion.token}`]) {
      const { status } = await client.send({ method: "GET", path });
      tally.did("reads on a full disk");
      if (status !== 200) tally.fault("reads refused on a full disk", `${path}: ${status}`);
    }
    const message = "[[words:300]]";
    const response = await chat(world.url, companion.token, { message });
    tally.did("chats on a full disk");
    if (response.isDone && !(await isKept(client, companion.id, response.text))) {
      tally.fault("chats on a full disk that ended in [DONE]", response.raw.slice(-200));
    }
    rmSync(filler);
    const after = await chat(world.url, companion.token, { message: "Space again" });
    if (!after.isDone) tally.fault("writes refused with space", `chat: ${after.status} ${after.raw.slice(-200)}`);
    for (const { id } of (await listAll(client, "/api/companions")).slice(20)) {
      // Free space for the next round; a deletion is a write too.
      if (id === companion.id) continue;
      const { status } = await client.send({ method: "DELETE", path: `/api/companions/${id}` });
      if (status === 204) acknowledged.delete(String(id));
      else tally.fault("writes refused with space", `DELETE: ${status}`);
    }
    const there = new Set((await listAll(client, "/api/companions")).map(({ id }) => id));
    for (const id of acknowledged) if (!there.has(id)) tally.fault("acknowledged companions lost", id);
  }
  tally.equal("rounds in which nothing was refused though the disk was full", timesUnrefused(tally, rounds), 0);
  await world.server.kill();
  await world.restart();
  const there = new Set((await listAll(clientOf(world, tally, key), "/api/companions")).map(({ id }) => id));
  for (const id of acknowledged) if (!there.has(id)) tally.fault("acknowledged companions lost", `after a kill: ${id}`);
  return tally.outcome();
}

function timesUnrefused(tally: Tally, rounds: number): number {
  return rounds - Math.floor(tally.timesDone("writes refused") / 20);
}

async function isKept(client: ReturnType<typeof clientOf>, companionId: string, text: string): Promise<boolean> {
  for (const { id } of await listAll(client, `/api/companions/${companionId}/conversations`)) {
    const { json } = await client.send({ method: "GET", path: `/api/conversations/${id}` });
    const messages = json.messages as { text: string; complete: boolean }[];
    if (messages.some((message) => message.complete && message.text === text)) return true;
  }
  return false;
}

/** Fills the rest of the disk. */
function fill(path: string): void {
  const file = openSync(path, "w");
  for (let size = 1 << 20; size >= 1; ) {
    try {
      writeSync(file, new Uint8Array(size));
    } catch {
      size >>= 1;
    }
  }
  closeSync(file);
}
