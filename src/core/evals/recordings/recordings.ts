/** What providers and hosts have answered, in one file for each request: kept by one run, and given out by later ones. */
import { mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { codeOf } from "../../../lib/error-code.ts";
import { sha256Hex } from "../../../lib/sha256.ts";
import { FileRefusal } from "../../companion-files/named-files.ts";
import { findNearest } from "./nearest.ts";

/** A request as far as it decides on its answer: no ids, times, addresses of providers, keys or headers. */
export interface RecordedRequest extends JsonObject {
  kind: "reply" | "embedding" | "page" | "site" | "tools";
}

/** Of a directory: what is the same for all that was recorded at one time. */
interface RecordingFacts {
  /** RFC 3339: the clock stands there, whenever it is replayed. */
  readonly recorded_at: string;
  /** Of the server, which decide on requests and costs: a replay needs none of them. */
  readonly settings?: JsonObject;
}

interface RecordingFile {
  readonly request: RecordedRequest;
  readonly answers: readonly JsonValue[];
}

const factsName = "recording.json";
const fileName = /^[0-9a-f]{64}\.json$/;

/** Without any recording the clock stands here. */
const noTimeMs = Date.UTC(2000, 0, 1);

/** Nothing in the recordings answers a request. The message has the first difference from the nearest one. */
export class UnrecordedRequest extends Error {
  override readonly name = "UnrecordedRequest";
}

export interface Recordings {
  readonly mode: "replay" | "record";
  /** Milliseconds since the epoch, whole: the clock of everything that is asked stands there. */
  readonly atMs: number;
  /** What was recorded with; empty where nothing is. */
  readonly settings: JsonObject;
  /**
   * What was recorded for the request, the next of its answers each time; of embeddings, pages and lists always the one.
   * While recording, what `ask` resolves with, which is kept; null from it is passed on and not kept. Rejects with
   * `UnrecordedRequest`, and as `ask` does, which then is missing in the recordings.
   */
  answer<Answer extends JsonValue>(request: RecordedRequest, ask: () => Promise<Answer | null>): Promise<Answer | null>;
  /** What no recording has, or will have, of all that was asked since the last call, as one sentence; null for nothing. */
  takeMiss(): string | null;
  /** While recording: names of files that nothing has asked for, sorted. Call it at the end. */
  listUnasked(): Promise<readonly string[]>;
}

/**
 * Reads what is there when it is asked for; a directory that does not exist has no recordings. Rejects with `FileRefusal`
 * if its facts are none.
 */
export async function openRecordings(directory: string): Promise<Recordings> {
  const facts = await readFacts(join(directory, factsName));
  const given = new Map<string, number>();
  const misses = createMisses();
  let requests: Promise<[string, RecordedRequest][]> | null = null;

  async function readRequests(): Promise<[string, RecordedRequest][]> {
    const known: [string, RecordedRequest][] = [];
    for (const name of await listFiles(directory)) {
      const file = await readRecording(join(directory, name)).catch(() => null);
      if (file !== null) known.push([name, file.request]);
    }
    return known;
  }

  async function explain(request: RecordedRequest): Promise<UnrecordedRequest> {
    // A change of a prompt is a miss of each case.
    requests ??= readRequests();
    const known = (await requests).filter(([, { kind }]) => kind === request.kind);
    const nearest = findNearest(request, known);
    const unrecorded = `${directory} has no recording of this ${request.kind} request`;
    return new UnrecordedRequest(
      nearest === null ? `${unrecorded}, nor any other of its kind.` : `${unrecorded}. ${nearest}`,
    );
  }

  async function find<Answer>(request: RecordedRequest): Promise<Answer> {
    const name = fileOf(request);
    const file = await readRecording(join(directory, name));
    if (file === null) throw await explain(request);
    const before = isRepeated(request) ? (given.get(name) ?? 0) : 0;
    given.set(name, before + 1);
    const answer = file.answers[before];
    if (answer !== undefined) return answer as Answer;
    const times = file.answers.length;
    throw new UnrecordedRequest(
      `${name} in ${directory} was recorded ${times === 1 ? "once" : `${times} times`}, and is asked for once more.`,
    );
  }

  return {
    mode: "replay",
    settings: facts?.settings ?? {},
    atMs: facts === null ? noTimeMs : Date.parse(facts.recorded_at),
    async answer(request) {
      try {
        return await find(request);
      } catch (error) {
        if (error instanceof UnrecordedRequest) misses.note(error.message);
        throw error;
      }
    },
    takeMiss: misses.take,
    listUnasked: async () => [],
  };
}

/** Makes the directory, and replaces the recordings of all that is asked from now on. Rejects with `FileRefusal`. */
export async function createRecordings(
  directory: string,
  nowMs: number,
  settings: JsonObject = {},
): Promise<Recordings> {
  const atMs = Math.floor(nowMs / 1000) * 1000;
  const kept = new Map<string, JsonValue[]>();
  const misses = createMisses();
  const facts: RecordingFacts = { recorded_at: new Date(atMs).toISOString(), settings };
  try {
    await mkdir(directory, { recursive: true });
    await writeJson(join(directory, factsName), facts);
  } catch (cause) {
    throw new FileRefusal(`${directory}: nothing can be recorded there (${codeOf(cause) || String(cause)})`, { cause });
  }
  return {
    mode: "record",
    settings,
    atMs,
    async answer(request, ask) {
      const answer = await ask().catch((error: unknown) => {
        misses.note(`There will be no recording of ${describe(request)}: it was not answered.`);
        throw error;
      });
      if (answer === null) return null;
      const name = fileOf(request);
      const before = isRepeated(request) ? (kept.get(name) ?? []) : [];
      const answers = [...before, answer];
      kept.set(name, answers);
      await writeJson(join(directory, name), { request, answers } satisfies RecordingFile);
      return answer;
    },
    takeMiss: misses.take,
    listUnasked: async () => (await listFiles(directory)).filter((name) => !kept.has(name)),
  };
}

const fileOf = (request: RecordedRequest) => `${sha256Hex(toCanonicalJson(request))}.json`;

/** A model may answer the same request differently each time; all else has one answer. */
const isRepeated = ({ kind }: RecordedRequest) => kind === "reply";

async function listFiles(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => fileName.test(name)).sort();
}

/** The first counts: what follows may be so because of it. */
function createMisses() {
  let first: string | null = null;
  return {
    note(sentence: string) {
      first ??= sentence;
    },
    take() {
      const taken = first;
      first = null;
      return taken;
    },
  };
}

function describe({ kind, url }: RecordedRequest): string {
  return `this ${kind} request${typeof url === "string" ? ` (${url})` : ""}`;
}

/** Null if there is no such file. */
async function readRecording(path: string): Promise<RecordingFile | null> {
  const value = await readJson(path);
  if (value === null) return null;
  if (isJsonObject(value) && isJsonObject(value["request"]) && Array.isArray(value["answers"])) {
    return value as unknown as RecordingFile;
  }
  throw new UnrecordedRequest(broken(path));
}

async function readFacts(path: string): Promise<RecordingFacts | null> {
  const value = await readJson(path).catch(() => undefined);
  if (value === null) return null;
  const { recorded_at: at, settings } = isJsonObject(value) ? value : {};
  const isRight = typeof at === "string" && !Number.isNaN(Date.parse(at)) && isJsonObject(settings ?? {});
  if (!isRight) throw new FileRefusal(broken(path));
  return value as unknown as RecordingFacts;
}

const broken = (path: string) => `${path} is no recording: record it again`;

/** Null if there is no such file. */
async function readJson(path: string): Promise<JsonValue> {
  const file = Bun.file(path);
  if (!(await file.exists())) return null;
  try {
    return (await file.json()) as JsonValue;
  } catch (cause) {
    throw new UnrecordedRequest(broken(path), { cause });
  }
}

/** Whole or not at all. */
async function writeJson(path: string, value: object): Promise<void> {
  await writeFile(`${path}.new`, `${JSON.stringify(value, null, 2)}\n`);
  await rename(`${path}.new`, path);
}

/** One form for all values that are equal: members in the order of their names. */
function toCanonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${toCanonicalJson(value[name] ?? null)}`);
  return `{${members.join()}}`;
}
