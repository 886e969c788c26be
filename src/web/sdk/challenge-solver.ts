/** Solves a companion's challenges; a separate file, loaded only where one is asked for. */

import type { Challenge } from "../../reply-reader/errors.ts";
import { search } from "./challenge-search.ts";

/** On the page's own thread, between two chances to draw: some milliseconds. */
const numbersAtOnce = 5_000;

/** What browsers ask for where a page may not name scripts by plain text. */
interface ScriptUrls {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

/**
 * Resolves with what to send as `X-Challenge`. Works in a worker, or where there can be none, in pieces between which the
 * page lives on. Rejects with the signal's reason once that fires, and with an error for what no number solves.
 */
export async function solveChallenge(
  { algorithm, challenge, maxnumber, salt, signature }: Challenge,
  signal?: AbortSignal,
): Promise<string> {
  signal?.throwIfAborted();
  const task = [salt, challenge, 0, maxnumber] as const;
  const number = (await searchInWorker(task, signal)) ?? (await searchInPieces(task, signal));
  if (algorithm !== "SHA-256" || number < 0) throw new TypeError("This challenge has no solution.");
  return btoa(JSON.stringify({ algorithm, challenge, number, salt, signature }));
}

type Task = Readonly<Parameters<typeof search>>;

/** Resolves with null where the page's policy, or the environment, allows no such worker. */
function searchInWorker(task: Task, signal: AbortSignal | undefined): Promise<number | null> {
  return new Promise((resolve, reject) => {
    let worker: Worker | undefined;
    let url = "";
    const end = () => {
      signal?.removeEventListener("abort", stop);
      worker?.terminate();
      URL.revokeObjectURL(url);
    };
    const stop = () => {
      end();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", stop);
    const give = (number: number | null) => {
      end();
      resolve(number);
    };
    try {
      // Of its own text: a worker from another origin's file is forbidden everywhere.
      const source = `onmessage=({data})=>postMessage((${search})(...data))`;
      url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      worker = new Worker(trust(url));
      worker.onmessage = ({ data }) => give(data);
      // Refused by the page's policy: some browsers throw then, some report it like this.
      worker.onerror = () => give(null);
      worker.postMessage(task);
    } catch {
      give(null);
    }
  });
}

let policy: ReturnType<ScriptUrls["createPolicy"]> | null | undefined;

function trust(url: string): string {
  if (policy === undefined) {
    const urls = (globalThis as { trustedTypes?: ScriptUrls }).trustedTypes;
    try {
      policy = urls?.createPolicy("companion-challenge", { createScriptURL: (own) => own }) ?? null;
    } catch {
      policy = null;
    }
  }
  return policy?.createScriptURL(url) ?? url;
}

async function searchInPieces([salt, challenge, from, to]: Task, signal: AbortSignal | undefined): Promise<number> {
  for (let first = from; first <= to; first += numbersAtOnce) {
    const number = search(salt, challenge, first, Math.min(to, first + numbersAtOnce - 1));
    if (number >= 0) return number;
    await nextTask();
    signal?.throwIfAborted();
  }
  return -1;
}

/** Lets the page draw. A timer would do, but in a tab behind others it comes once a second. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
