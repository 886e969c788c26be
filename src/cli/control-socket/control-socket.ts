/**
 * The control socket in the data directory at which a running server answers its operator's commands: for its own user
 * and root alone, and apart from everything that the network reaches.
 */
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buildInfo } from "../../lib/build-info.ts";
import { codeOf } from "../../lib/error-code.ts";
import type { Log } from "../../lib/log.ts";
import { isSocketName, nameSocket, paths, protocol } from "./protocol.ts";

export interface ControlSocket {
  /** Closes it and removes the socket. */
  close(): Promise<void>;
}

export interface ControlSocketOptions {
  dataDir: string;
  /** Distinguishes the servers that share the directory; null if there can only be one. */
  id: string | null;
  log: Log;
  /** Made on the first question, so that a start does not pay for it. */
  makeAnswers(): Promise<Answers>;
}

export interface Answers {
  describe(): object;
  check(): Promise<object>;
}

/** The checks ask providers, each within a deadline of its own. */
const checkSeconds = 150;
const ownerOnly = 0o177;
/** A younger one may be of a server that is just starting. */
const abandonedAfterMs = 60_000;

/** Null where there can be none: the server goes on without, and logs it. */
export function openControlSocket({ dataDir, id, log, makeAnswers }: ControlSocketOptions): ControlSocket | null {
  // No rights of files would guard it there.
  if (process.platform === "win32") return null;
  const path = join(dataDir, nameSocket(id));
  let answers: Promise<Answers> | null = null;
  let checking: Promise<object> | null = null;

  async function answer(request: Request, allowSeconds: (seconds: number) => void): Promise<Response> {
    const { pathname } = new URL(request.url);
    answers ??= makeAnswers();
    if (request.method === "GET" && pathname === paths.facts) return Response.json((await answers).describe());
    // The command of another version then knows at least whom it has asked.
    if (request.method !== "POST" || pathname !== paths.check) {
      return Response.json({ protocol, version: buildInfo.version }, { status: 404 });
    }
    allowSeconds(checkSeconds);
    // Who asks meanwhile shares the answer: providers are paid for each.
    checking ??= answers.then((one) => one.check()).finally(() => (checking = null));
    return Response.json(await checking);
  }

  // From its first moment it is for its owner alone; nothing else runs before the mask is as it was.
  const mask = process.umask(ownerOnly);
  try {
    if (id === null) rmSync(path, { force: true });
    const server = Bun.serve({
      unix: path,
      fetch: (request, listening) => answer(request, (seconds) => listening.timeout(request, seconds)),
      error(error) {
        log.error("the local socket failed to answer", { error });
        return new Response(null, { status: 500 });
      },
      maxRequestBodySize: 1024,
      development: false,
    });
    return { close: () => server.stop(true) };
  } catch (error) {
    log.warn("doctor cannot ask this server: there is no socket in its data directory", { path, error });
    return null;
  } finally {
    process.umask(mask);
  }
}

/** What servers have left that were killed; for a directory in which each has a name of its own. */
export async function removeAbandoned(dataDir: string, nowMs: number): Promise<void> {
  for (const name of readdirSync(dataDir).filter(isSocketName)) {
    const path = join(dataDir, name);
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts?.isSocket() !== true || nowMs - facts.mtimeMs < abandonedAfterMs) continue;
    if (!(await isListening(path))) rmSync(path, { force: true });
  }
}

async function isListening(path: string): Promise<boolean> {
  try {
    const socket = await Bun.connect({ unix: path, socket: { data() {} } });
    socket.end();
    return true;
  } catch (error) {
    return codeOf(error) !== "ECONNREFUSED";
  }
}
