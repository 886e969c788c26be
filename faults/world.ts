/** The executable as an operator sets it up, with mock providers, accounts with resources, and clients. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { scopes } from "../src/domain/account.ts";
import {
  type ExecutableOptions,
  type RunningExecutable,
  runExecutable,
  startExecutable,
} from "../test/support/executable.ts";
import { type MockLlm, startMockLlm } from "../test/support/mock-llm.ts";
import { type Client, createClient } from "./client.ts";
import type { Tally } from "./row.ts";

const allScopes = scopes.join();
/** Differs from the document's example, so that generated requests do not change the password to it. */
export const password = "nine purple tractors at noon";

/** High limits and quotas, so that requests are refused only where a row tests it. */
const roomy = {
  COMPANIOND_RATE_PER_IP: "1000000",
  COMPANIOND_STREAMS_PER_IP: "1000000",
  COMPANIOND_RATE_PER_TOKEN: "1000000",
  COMPANIOND_RATE_PER_KEY: "1000000",
  COMPANIOND_CHAT_RATE_PER_KEY: "1000000",
  COMPANIOND_DAILY_FREE: "1000000",
  COMPANIOND_DAILY_PAID: "1000000",
  // Visitors choose their address, so that limits by address can be tested.
  COMPANIOND_TRUST_PROXY: "1",
  COMPANIOND_PUBLIC_URL: "http://companions.example",
};

export interface World extends AsyncDisposable {
  readonly mock: MockLlm;
  readonly server: RunningExecutable;
  readonly url: string;
  /** Starts the executable again on the same data, after `server` has ended; `enter` precedes the command. */
  restart(enter?: readonly string[]): Promise<RunningExecutable>;
}

export async function openWorld(options: ExecutableOptions = {}): Promise<World> {
  const mock = await startMockLlm();
  const env = { OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "sk-of-the-operator", ...roomy, ...options.env };
  let server = await startExecutable({ ...options, env }).catch(async (error: unknown) => {
    await mock.close();
    throw error;
  });
  const servers = [server];
  return {
    mock,
    get server() {
      return server;
    },
    get url() {
      return server.url;
    },
    async restart(enter = []) {
      server = await startExecutable({ ...options, env, dataDir: server.dataDir, enter });
      servers.push(server);
      return server;
    },
    async [Symbol.asyncDispose]() {
      // The first server owns the directory that all of them share.
      for (const one of servers.reverse()) await one[Symbol.asyncDispose]();
      await mock.close();
    },
  };
}

/** Runs a command beside the server and returns its JSON. */
export async function runJson(dataDir: string, words: readonly string[], input = ""): Promise<Record<string, string>> {
  const { exitCode, stdout, stderr } = await runExecutable([...words, "--data-dir", dataDir, "--json"], { input });
  if (exitCode !== 0) throw new Error(`companiond ${words.join(" ")}: ${stderr}`);
  return JSON.parse(stdout);
}

export interface Owner {
  email: string;
  accountId: string;
  key: string;
  client: Client;
}

/** An account with a password and a key with all scopes. */
export async function makeOwner(
  world: World,
  tally: Tally,
  name: string,
  role: "owner" | "operator" = "owner",
): Promise<Owner> {
  const email = `${name}@shop.example`;
  const { dataDir } = world.server;
  const account = await runJson(
    dataDir,
    ["account", "create", "--email", email, "--role", role, "--password-stdin"],
    `${password}\n`,
  );
  const made = await runJson(dataDir, ["key", "create", "--account", email, "--name", name, "--scopes", allScopes]);
  const key = made.key ?? "";
  return { email, accountId: account.id ?? "", key, client: clientOf(world, tally, key) };
}

export function clientOf(world: World, tally: Tally, key: string, allowed: readonly number[] = []): Client {
  return clientOfKey(world.url, tally, key, allowed);
}

export function clientOfKey(url: string, tally: Tally, key: string, allowed: readonly number[] = []): Client {
  return createClient(url, { authorization: `Bearer ${key}` }, tally, allowed);
}

let signIns = 0;

/** Signs in as a browser does; the client carries the cookie. */
export async function signIn(
  world: World,
  tally: Tally,
  email: string,
  { secret = password, userAgent = "a browser" } = {},
): Promise<Client> {
  // A new address each time: sign-ins are limited by address.
  signIns++;
  const address = `198.${18 + (signIns >> 16)}.${(signIns >> 8) & 255}.${signIns & 255}`;
  const visitor = createClient(world.url, { "x-forwarded-for": address }, tally);
  const body = { email, password: secret };
  const headers = { "user-agent": userAgent };
  const response = await visitor.send({ method: "POST", path: "/api/session", body, headers });
  const cookie = response.headers.get("set-cookie")?.split(";", 1)[0];
  if (cookie === undefined) throw new Error(`signing in as ${email} answered ${response.status}: ${response.text}`);
  return createClient(world.url, { cookie, "x-forwarded-for": address }, tally);
}

export async function makeCompanion(client: Client, fields: object = {}): Promise<{ id: string; token: string }> {
  const response = await client.send({ method: "POST", path: "/api/companions", body: { name: "Ada", ...fields } });
  if (response.status !== 201) throw new Error(`making a companion answered ${response.status}: ${response.text}`);
  return { id: response.json.id, token: response.json.embed_token };
}

/** All items of a list, page by page. */
export async function listAll(client: Client, path: string): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  let cursor: string | null = null;
  do {
    const place: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { json, status, text } = await client.send({ method: "GET", path: `${path}?limit=100${place}` });
    if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
    items.push(...json.data);
    cursor = json.next_cursor;
  } while (cursor !== null);
  return items;
}

/** Whether the server responds to a simple request. */
export async function isAlive(url: string): Promise<boolean> {
  const response = await fetch(`${url}/healthz`).catch(() => null);
  return response?.ok ?? false;
}

/** Without what the thread that copies the database's log opens while it is there: its event loop and the database's files. */
export function openDescriptors(pid: number): number {
  return linksOf(pid).filter((link) => !(link.startsWith("anon_inode:") || isOfDatabase(link))).length;
}

export function openDatabaseFiles(pid: number): number {
  return linksOf(pid).filter(isOfDatabase).length;
}

/** Open connections and listening sockets. */
export function openSockets(pid: number): number {
  return linksOf(pid).filter((link) => link.startsWith("socket:")).length;
}

const isOfDatabase = (link: string) => /\/companiond\.db(-wal|-shm)?$/.test(link);

function linksOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).map((name) => readLink(`/proc/${pid}/fd/${name}`));
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // Closed since it was listed.
    return "";
  }
}

export function threadsOf(pid: number): number {
  return Number(/^Threads:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN);
}

/** Runs `work` for all items with limited concurrency. */
export async function inParallel<Item>(
  items: Iterable<Item>,
  width: number,
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const queue = Array.from(items).entries();
  const worker = async () => {
    for (const [index, item] of queue) await work(item, index);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
