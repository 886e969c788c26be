/** Files on their way to the server, one after the other, each with its progress and its own failure. */
import { X } from "lucide-preact";
import { useRef, useState } from "preact/hooks";
import { ApiError, toFailure, toSentence } from "../lib/api.ts";
import { formatBytes } from "../lib/format.ts";
import type { Source } from "../lib/types.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { focusPage } from "../ui/focus.ts";
import { findFileProblem } from "./source-words.ts";

export function UploadList({ uploads }: { uploads: Uploads }) {
  const { items, retry, dismiss } = uploads;
  if (items.length === 0) return null;
  return (
    <ul class="space-y-2" aria-label="Uploads">
      {items.map((item) => (
        <li key={item.id} class="flex items-start gap-3 rounded-lg border border-line px-4 py-2.5">
          <div class="min-w-0 flex-1">
            <p class="wrap-anywhere">
              <span class="font-medium" dir="auto">
                {item.file.name}
              </span>{" "}
              <span class="text-13 text-muted">{formatBytes(item.file.size)}</span>
            </p>
            {item.state === "failed" ? (
              <p role="alert" class="mt-0.5 text-13 text-pretty text-bad">
                {item.problem}
              </p>
            ) : (
              <>
                <p class="text-13 text-muted tabular-nums">{describe(item)}</p>
                <ProgressBar label={`Uploading ${item.file.name}`} share={item.share} />
              </>
            )}
          </div>
          {item.state === "failed" && item.canRetry && (
            <Button onClick={() => retry(item.id)}>
              Try again<span class="sr-only"> {item.file.name}</span>
            </Button>
          )}
          {item.state === "failed" && (
            <IconButton
              label={`Dismiss ${item.file.name}`}
              icon={X}
              onClick={() => {
                dismiss(item.id);
                focusPage();
              }}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

function describe({ state, share }: Upload): string {
  if (state === "waiting") return "Waiting";
  return share < 1 ? `${Math.floor(share * 100)}% uploaded` : "Uploaded, checking";
}

interface Upload {
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

/** Files on their way to the server, one after the other, each with its progress and its own failure. */
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
        const source = await upload<Source>("POST", path, form, (share) => change(id, { share }));
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

/** How much of something is done. `share` is from 0 to 1. */
export function ProgressBar({ label, share }: { label: string; share: number }) {
  const percent = Math.floor(share * 100);
  return (
    <div class="relative mt-2 h-2.5 overflow-hidden rounded-full bg-line">
      <progress class="sr-only" aria-label={label} max={100} value={percent}>
        {percent} %
      </progress>
      <div class="absolute inset-y-0 left-0 bg-accent" style={{ width: `${percent}%` }} />
    </div>
  );
}

/**
 * Sends a form with a file, and reports how much of it has been sent: `fetch` cannot. Resolves with the response's
 * JSON; rejects with `ApiError`. `onProgress` is given what is sent, from 0 to 1.
 */
export function upload<Result>(
  method: "POST" | "PUT",
  path: string,
  form: FormData,
  onProgress: (share: number) => void,
): Promise<Result> {
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    request.open(method, path);
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onerror = () => reject(toFailure(path, 0, null));
    request.onload = () => {
      const { status, response } = request;
      if (status >= 200 && status < 300) resolve(response as Result);
      else reject(toFailure(path, status, response));
    };
    request.send(form);
  });
}
