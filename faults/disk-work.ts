/** Writes whose acknowledgements are noted, and whether a database still holds what was acknowledged. */
import { Database } from "bun:sqlite";
import { chat } from "../test/support/chat.ts";
import type { Tally } from "./row.ts";
import { clientOf, inParallel, type Owner, type World } from "./world.ts";

export const lossFaults = [
  "damaged databases",
  "acknowledged replies lost",
  "acknowledged companions lost",
  "deleted companions back",
] as const;

export interface Acknowledged {
  /** A deletion that was only asked for may have taken place. */
  what: "message" | "companion" | "asked deletion" | "deletion";
  id: string;
  /** Since 1970. */
  atSeconds: number;
}

interface Work {
  owner: Owner;
  /** The embed token that visitors chat through. */
  token: string;
  /** How many companions are made, each with a large prompt, so that the log grows. */
  companions: number;
}

/** Visitors chat and companions come and go, until enough have come, or the server has gone. */
export async function workOnDisk(world: World, tally: Tally, { owner, token, companions }: Work) {
  const acknowledged: Acknowledged[] = [];
  const note = (what: Acknowledged["what"], id: string) =>
    acknowledged.push({ what, id, atSeconds: (performance.timeOrigin + performance.now()) / 1_000 });
  const client = clientOf(world, tally, owner.key, [503]);
  let isOver = false;
  const untilGone = (step: () => Promise<void>) =>
    step().catch(() => {
      isOver = true;
    });
  const visitors = Array.from({ length: 4 }, async (_, visitor) => {
    const session_id = crypto.randomUUID();
    for (let number = 0; !isOver; number++) {
      const message = `message ${number} of ${visitor}`;
      await untilGone(async () => {
        const response = await chat(world.url, token, { message, session_id });
        if (response.isDone) note("message", message);
      });
    }
  });
  const body = { name: "Ada", system_prompt: "x".repeat(30_000) };
  await inParallel(Array.from({ length: companions }).keys(), 3, async (number) => {
    if (isOver) return;
    await untilGone(async () => {
      const made = await client.send({ method: "POST", path: "/api/companions", body });
      if (made.status !== 201) return;
      note("companion", made.json.id);
      if (number % 3 > 0) return;
      note("asked deletion", made.json.id);
      const { status } = await client.send({ method: "DELETE", path: `/api/companions/${made.json.id}` });
      if (status === 204) note("deletion", made.json.id);
    });
  });
  isOver = true;
  await Promise.all(visitors);
  for (const what of ["message", "companion", "deletion"] as const) {
    tally.did(`${what}s acknowledged`, acknowledged.filter((one) => one.what === what).length);
  }
  return acknowledged;
}

/** Counts what of the acknowledged is not in the database file at `path`. */
export function verifyOnDisk(path: string, acknowledged: readonly Acknowledged[], tally: Tally): void {
  using database = new Database(path, { readwrite: true });
  const problem = database.query<{ integrity_check: string }, []>("PRAGMA integrity_check(1)").get()?.integrity_check;
  if (problem !== "ok") {
    tally.fault("damaged databases", String(problem));
    return;
  }
  const read = (sql: string) =>
    new Set(
      database
        .query<{ value: string }, []>(sql)
        .all()
        .map(({ value }) => value),
    );
  const companions = read("SELECT id AS value FROM companions");
  // A reply is kept together with what it replies to.
  const messages = read("SELECT text AS value FROM messages WHERE role = 'user'");
  const deleted = new Set(acknowledged.filter(({ what }) => what === "asked deletion").map(({ id }) => id));
  for (const { what, id } of acknowledged) {
    if (what === "message" && !messages.has(id)) tally.fault("acknowledged replies lost", id);
    if (what === "companion" && !deleted.has(id) && !companions.has(id))
      tally.fault("acknowledged companions lost", id);
    if (what === "deletion" && companions.has(id)) tally.fault("deleted companions back", id);
  }
}
