/** Fetches a release: a small document whole, the executable into a file. */
import { open } from "node:fs/promises";
import { CommandFailure } from "../command.ts";
import { requireSafe } from "./release.ts";

const maxDocumentBytes = 1024 * 1024;
/** About eight times what an executable takes. */
const maxExecutableBytes = 1024 ** 3;
const maxRedirects = 5;
const documentLimitMs = 30_000;
/** Compressed, an answer would not have the length that it declares; an executable is hardly worth it. */
const headers = { accept: "*/*", "accept-encoding": "identity" };
/** Without a byte for this long, the connection is dead. */
const silenceMs = 30_000;
const executableLimitMs = 60 * 60_000;

/** Null if there is none at this address. */
export async function fetchDocument(url: URL): Promise<string | null> {
  const signal = AbortSignal.timeout(documentLimitMs);
  const response = await get(url, signal);
  if (response.status === 404) return null;
  const gathered: Uint8Array[] = [];
  await consume(url, response, { most: maxDocumentBytes, signal }, async (bytes) => void gathered.push(bytes));
  return Buffer.concat(gathered).toString("utf8");
}

export interface Download {
  url: URL;
  /** Is created; must not exist. */
  file: string;
  /** Called with the bytes of each part, and the size of the whole where the server sends it. */
  onPart(bytes: number, totalBytes: number | null): void;
}

/** Resolves with the SHA-256 sum of what is in the file, in hex, once it is on the disk. */
export async function fetchExecutable({ url, file, onPart }: Download): Promise<string> {
  const signal = AbortSignal.timeout(executableLimitMs);
  const hash = new Bun.CryptoHasher("sha256");
  // First, so that nothing is fetched where nothing can be written.
  const handle = await open(file, "wx", 0o600);
  try {
    const response = await get(url, signal);
    if (response.status === 404) throw new CommandFailure(`There is nothing at ${nameOf(url)}. Nothing has changed.`);
    const declared = Number(response.headers.get("content-length") ?? Number.NaN);
    const totalBytes = Number.isSafeInteger(declared) && declared > 0 ? declared : null;
    await consume(url, response, { most: maxExecutableBytes, signal }, async (bytes) => {
      hash.update(bytes);
      await handle.writeFile(bytes);
      onPart(bytes.byteLength, totalBytes);
    });
    await handle.sync();
  } finally {
    await handle.close();
  }
  return hash.digest("hex");
}

/** Follows redirects itself: each step must be as safe as the first. */
async function get(url: URL, signal: AbortSignal): Promise<Response> {
  let at = requireSafe(url);
  for (let step = 0; step <= maxRedirects; step++) {
    const response = await request(at, signal);
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null) {
      if (response.ok || response.status === 404) return response;
      throw failure(at, `answered ${response.status}`);
    }
    await response.body?.cancel();
    const next = URL.parse(location, at.href);
    if (next === null) throw failure(at, "redirects to no address");
    at = requireSafe(next);
  }
  throw failure(url, `redirects more than ${maxRedirects} times`);
}

async function request(url: URL, signal: AbortSignal): Promise<Response> {
  const quiet = Promise.withResolvers<never>();
  const timer = setTimeout(() => quiet.reject(failure(url, "did not answer in time")), silenceMs);
  try {
    return await Promise.race([fetch(url, { redirect: "manual", signal, headers }), quiet.promise]);
  } catch (error) {
    throw error instanceof CommandFailure ? error : failure(url, "cannot be reached", error);
  } finally {
    clearTimeout(timer);
  }
}

async function consume(
  url: URL,
  response: Response,
  { most, signal }: { most: number; signal: AbortSignal },
  take: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  const reader = response.body?.getReader();
  let bytes = 0;
  while (reader !== undefined) {
    const part = await readPart(url, reader, signal);
    if (part === null) return;
    bytes += part.byteLength;
    if (bytes > most) {
      await reader.cancel();
      throw failure(url, `sent more than ${most / 1024 / 1024} MiB`);
    }
    await take(part);
  }
}

async function readPart(
  url: URL,
  reader: Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const quiet = Promise.withResolvers<never>();
  const timer = setTimeout(() => quiet.reject(failure(url, "stopped sending")), silenceMs);
  try {
    const { done, value } = await Promise.race([reader.read(), quiet.promise]);
    return done ? null : value;
  } catch (error) {
    void reader.cancel().catch(() => {});
    if (error instanceof CommandFailure) throw error;
    throw failure(url, signal.aborted ? "took too long" : "was cut off", error);
  } finally {
    clearTimeout(timer);
  }
}

function failure(url: URL, what: string, cause?: unknown): CommandFailure {
  const reason = cause instanceof Error ? ` (${cause.message})` : "";
  return new CommandFailure(`${nameOf(url)} ${what}${reason}. Nothing has changed: try again later.`);
}

/** Without its query, which can be a pass. */
export function nameOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}
