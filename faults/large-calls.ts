/** Calls with the largest bodies and answers, for `heavy-calls`. They check no answer: that would take longer than it. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Client } from "./client.ts";
import type { World } from "./world.ts";

/** What texts are made of: what JSON leaves as it is, what is long as UTF-8, and what is escaped. */
export const textUnits = {
  words: "Returns are free. ",
  "another script": "返品は無料です。",
  "short lines": '¶ "a"\r\n\t',
};

/** Sends such a text of that many bytes of JSON as a source, as JSON or as a file; and deletes it, so that nobody reads it. */
export async function sendSource(client: Client, companionId: string, unit: string, bytes: number, isFile: boolean) {
  const text = unit.repeat(bytes / Buffer.byteLength(JSON.stringify(unit)));
  const path = `/api/companions/${companionId}/sources`;
  const form = new FormData();
  form.set("file", new File([text], "returns.txt", { type: "text/plain" }));
  const json = { "content-type": "application/json" };
  const { id } = await call(client, path, {
    method: "POST",
    // The digest of the body is taken as well.
    headers: { ...(isFile ? {} : json), "idempotency-key": crypto.randomUUID() },
    body: isFile ? form : JSON.stringify({ type: "text", title: "Returns", text }),
  });
  await call(client, `${path}/${id}`, { method: "DELETE" });
}

/** Of all answers at once. */
export async function read(client: Client, path: string, encoding: string): Promise<void> {
  await call(client, path, { headers: { "accept-encoding": encoding } });
}

async function call({ url, credentials }: Client, path: string, init: RequestInit): Promise<{ id?: string }> {
  const headers = { ...credentials, ...(init.headers as Record<string, string>) };
  const response = await fetch(url + path, { ...init, headers });
  const bytes = await response.arrayBuffer();
  if (response.status >= 300) throw new Error(`${path} answered ${response.status}`);
  return response.status === 202 ? JSON.parse(Buffer.from(bytes).toString()) : {};
}

/** Writes usage of that many companions beside the server: they would take an hour to make. */
export function useMany({ server }: World, accountId: string, count: number): void {
  using database = new Database(join(server.dataDir, "companiond.db"), { readwrite: true, create: false });
  database.run("PRAGMA busy_timeout = 30000");
  const insert = database.query(
    "INSERT INTO usage_daily (account_id, companion_id, day, key_id, messages) VALUES (?, ?, date('now'), '', 1)",
  );
  database.transaction(() => {
    for (let made = 0; made < count; made++) insert.run(accountId, crypto.randomUUID());
  })();
}
