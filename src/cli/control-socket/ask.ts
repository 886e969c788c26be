/** Asks the servers that run on a data directory, and distinguishes why one does not answer. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { buildInfo } from "../../lib/build-info.ts";
import { codeOf } from "../../lib/error-code.ts";
import { type RunningFacts, readFacts, readVersion } from "./facts.ts";
import { isSocketName, paths } from "./protocol.ts";

export type Asked =
  | { kind: "answered"; facts: RunningFacts; path: string }
  /** `sentence`: why it is not known what a server runs with; `advice`: what to do about it. */
  | { kind: "unknown"; sentence: string; advice: string };

export interface Answers {
  servers: Asked[];
  /** Whether a socket is there of a server that was killed. */
  hasAbandoned: boolean;
}

/** Several only where the data is in a database that servers share. */
const maxAsked = 16;
const limits = { factsMs: 5_000, checkMs: 150_000, bytes: 1024 * 1024 };

export async function askServers(dataDir: string, factsMs = limits.factsMs): Promise<Answers> {
  let names: string[];
  try {
    names = readdirSync(dataDir).filter(isSocketName).slice(0, maxAsked);
  } catch (error) {
    if (codeOf(error) === "EACCES") return { servers: [denied(dataDir, dataDir)], hasAbandoned: false };
    // Faults of the directory are reported by its own check.
    names = [];
  }
  const sockets = names.map((name) => join(dataDir, name)).filter((path) => lstatSync(path).isSocket());
  const asked = await Promise.all(sockets.map((path) => askOne(path, dataDir, factsMs)));
  const servers = asked.filter((one) => one !== null);
  return { servers, hasAbandoned: servers.length < asked.length };
}

/** Lets the server check what it runs with. Null if no answer comes, `unable` from a version that cannot. */
export async function askForChecks(path: string): Promise<RunningFacts | "unable" | null> {
  try {
    const { status, body } = await ask(path, "POST", paths.check, limits.checkMs);
    return status === 404 ? "unable" : readFacts(body);
  } catch {
    return null;
  }
}

/** Null for the socket of a server that was killed. */
async function askOne(path: string, dataDir: string, limitMs: number): Promise<Asked | null> {
  try {
    const { status, body } = await ask(path, "GET", paths.facts, limitMs);
    const facts = status === 200 ? readFacts(body) : null;
    return facts === null ? misunderstood(path, readVersion(body)) : { kind: "answered", facts, path };
  } catch (error) {
    const code = codeOf(error);
    if (code === "ECONNREFUSED" || code === "ENOENT") return null;
    if (code === "EACCES" || code === "EPERM") return denied(path, dataDir);
    if (error instanceof Error && error.name === "TimeoutError") {
      const sentence = `A server runs on ${dataDir}, and has not answered within ${limitMs / 1000} s.`;
      return unknown(sentence, "Check its log; if it stays like this, restart it.");
    }
    const reason = error instanceof Error ? error.message : String(error);
    return unknown(`The server at ${path} could not be asked: ${reason.slice(0, 200)}.`, "Try again, or restart it.");
  }
}

interface Answer {
  status: number;
  /** Null for what is not JSON. */
  body: unknown;
}

async function ask(unix: string, method: "GET" | "POST", path: string, limitMs: number): Promise<Answer> {
  const signal = AbortSignal.timeout(limitMs);
  const response = await fetch(`http://companiond${path}`, { unix, method, signal, redirect: "error" });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > limits.bytes) throw new Error("the answer is too long");
    chunks.push(chunk);
  }
  return { status: response.status, body: parse(Buffer.concat(chunks).toString()) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Of a version whose answers this one does not read: what it runs with stays unknown, but not what it is. */
function misunderstood(path: string, version: string | null): Asked {
  if (version !== null && version !== buildInfo.version) {
    return unknown(`${compareVersions(version)} They do not understand each other.`, adviseOnVersions(version));
  }
  const sentence =
    `What answers at ${path} does not answer as companiond ${buildInfo.version} does: it is another version, or another ` +
    "program.";
  return unknown(sentence, "Restart the service (systemctl restart companiond), then try again.");
}

function denied(path: string, dataDir: string): Asked {
  const owner = lstatSync(path).uid;
  return unknown(
    `${path} belongs to user ${owner}, and this one (${process.geteuid?.()}) may not use it: whether a server runs there, and with what, is unknown.`,
    `Run it as root, which works as that user there: sudo companiond doctor --data-dir ${dataDir}`,
  );
}

function unknown(sentence: string, advice: string): Asked {
  return { kind: "unknown", sentence, advice };
}

/** A full sentence that begins with who is which. */
export function compareVersions(running: string): string {
  return `The running server is version ${running}, this command is ${buildInfo.version}.`;
}

export function adviseOnVersions(running: string): string {
  return isNewer(running)
    ? "This command is an older executable: use the one that the server runs, or update this one."
    : `Restart the service to run ${buildInfo.version} (systemctl restart companiond), or use the executable that it runs.`;
}

/** False for what is no version. */
function isNewer(running: string): boolean {
  return /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(running) && Bun.semver.order(running, buildInfo.version) > 0;
}
