/** Files on their way to the server, one after the other, each with its progress and its own failure. */
import { useRef, useState } from "preact/hooks";
import { ApiError, toSentence } from "../lib/api.ts";
import type { Source } from "../lib/types.ts";
import { upload } from "../lib/upload.ts";
import { findFileProblem } from "./file-kinds.ts";

export interface Upload {
  id: number;
  file: File;
  state: "waiting" | "sending" | "failed";
  /** From 0 to 1. */
  share: number;
  /** Why it failed. */
  problem: string | null;
  /** Whether sending it again may help. */
  canRetry: boolean;
}

export interface Uploads {
  items: readonly Upload[];
  isBusy: boolean;
  add(files: readonly File[]): void;
  retry(id: number): void;
  dismiss(id: number): void;
}

let made = 0;

export function useUploads(path: string, onSent: (source: Source) => void): Uploads {
  const [items, setItems] = useState<readonly Upload[]>([]);
  const queue = useRef<Upload[]>([]);
  const isRunning = useRef(false);
  const sent = useRef(onSent);
  sent.current = onSent;

  const change = (id: number, part: Partial<Upload>) =>
    setItems((before) => before.map((item) => (item.id === id ? { ...item, ...part } : item)));
  const drop = (id: number) => setItems((before) => before.filter((item) => item.id !== id));

  async function run(): Promise<void> {
    if (isRunning.current) return;
    isRunning.current = true;
    for (let next = queue.current.shift(); next !== undefined; next = queue.current.shift()) {
      const { id, file } = next;
      change(id, { state: "sending", share: 0, problem: null });
      const form = new FormData();
      form.set("file", file);
      try {
        const source = await upload<Source>("POST", path, form, { onProgress: (share) => change(id, { share }) });
        drop(id);
        sent.current(source);
      } catch (error) {
        const canRetry = !(error instanceof ApiError) || ![409, 413, 415].includes(error.status);
        change(id, { state: "failed", problem: toSentence(error), canRetry });
      }
    }
    isRunning.current = false;
  }

  function add(files: readonly File[]): void {
    const added = files.map((file): Upload => {
      const problem = findFileProblem(file);
      const state = problem === null ? "waiting" : "failed";
      return { id: ++made, file, state, share: 0, problem, canRetry: false };
    });
    setItems((before) => [...before, ...added]);
    queue.current.push(...added.filter(({ state }) => state === "waiting"));
    void run();
  }

  function retry(id: number): void {
    const item = items.find((other) => other.id === id);
    if (item === undefined || item.state !== "failed") return;
    change(id, { state: "waiting", problem: null });
    queue.current.push(item);
    void run();
  }

  const isBusy = items.some(({ state }) => state !== "failed");
  return { items, isBusy, add, retry, dismiss: drop };
}
