/**
 * Speaks to the storage in a separate process: no reply waits for it, and it can be ended at any moment. What it
 * needs, keys and all, goes through a pipe: command lines can be read by every user.
 */
import type { StorageLocation } from "../../contracts/backup-storage.ts";
import type { Fetched, Fetching } from "./fetching.ts";
import type { StoredBackup } from "./names.ts";
import type { Upload, Uploaded } from "./upload.ts";

/** The request and the response, one JSON value each: the task and its result, by kind. */
export interface StorageTasks {
  upload: { asked: Upload; answer: Uploaded };
  /** Good ones, newest first; the recipient, if there is one, is tried. */
  list: { asked: { ageRecipient: string | null }; answer: StoredBackup[] };
  fetch: { asked: Fetching; answer: Fetched };
}

export type StorageTask = {
  [Kind in keyof StorageTasks]: { kind: Kind; location: StorageLocation; asked: StorageTasks[Kind]["asked"] };
}[keyof StorageTasks];

export const storageCommandName = "backup-storage";

export interface StorageProcess {
  /** The command that starts this program. */
  command: readonly string[];
  /** All that it has of the environment: authorities to trust, and proxies. */
  network: Readonly<Record<string, string>>;
  location: StorageLocation;
  signal: AbortSignal;
}

/** After this a process stops on its own and ends: it has the storage drop partial uploads. Longer in tests. */
export const storageProcessLimits = { stopMs: 5000 };
const maxAnswerBytes = 64 * 1024 * 1024;

/** Rejects with an error whose message is the sentence of the failure. */
export async function runStorageTask<Kind extends keyof StorageTasks>(
  { command, network, location, signal }: StorageProcess,
  kind: Kind,
  asked: StorageTasks[Kind]["asked"],
): Promise<StorageTasks[Kind]["answer"]> {
  signal.throwIfAborted();
  const child = Bun.spawn([...command, storageCommandName], {
    env: { ...network },
    stdin: new Blob([JSON.stringify({ kind, location, asked })]),
    stdout: "pipe",
    stderr: "pipe",
    maxBuffer: maxAnswerBytes,
  });
  let late: Timer | undefined;
  const onAbort = () => {
    child.kill("SIGTERM");
    late = setTimeout(() => child.kill("SIGKILL"), storageProcessLimits.stopMs);
  };
  const onExit = () => child.kill("SIGTERM");
  signal.addEventListener("abort", onAbort);
  process.on("exit", onExit);
  try {
    const [answer, problem] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    signal.throwIfAborted();
    if (child.exitCode === 0) return JSON.parse(answer);
    const sentence = problem.trim().replace(/^companiond: /, "");
    throw new Error(sentence || `the process that speaks to the storage ended with code ${child.exitCode}`);
  } finally {
    clearTimeout(late);
    signal.removeEventListener("abort", onAbort);
    process.off("exit", onExit);
  }
}
