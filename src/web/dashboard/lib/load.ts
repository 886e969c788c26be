/** Data of a page: loaded when it is shown and reloaded on request, with the error if that fails. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, call, type Query, toSearch } from "./api.ts";
import { resumptions } from "./session.ts";
import type { Page } from "./types.ts";

export interface Loaded<Data> {
  /** The latest data; null before the first has arrived. */
  data: Data | null;
  error: unknown;
  reload(): Promise<void>;
  /** Replaces the loaded data with newer data. */
  set(data: Data): void;
}

const get = <Data>(path: string, signal: AbortSignal) => call<Data>("GET", path, { signal });

/** Reloads whenever the path changes; null loads nothing. `read`: always the same function. */
export function useLoad<Data>(path: string | null, read = get<Data>): Loaded<Data> {
  const [state, setState] = useState<{ data: Data | null; error: unknown }>({ data: null, error: null });
  const running = useRef<AbortController | null>(null);

  const reload = useCallback(async () => {
    running.current?.abort();
    if (path === null) return;
    const run = new AbortController();
    running.current = run;
    try {
      const data = await read(path, run.signal);
      if (!run.signal.aborted) setState({ data, error: null });
    } catch (error) {
      if (!run.signal.aborted) setState(({ data }) => ({ data, error }));
    }
  }, [path]);

  useEffect(() => {
    setState({ data: null, error: null });
    void reload();
    return () => running.current?.abort();
  }, [reload]);

  useOnceResumed(state.error, reload);
  const set = useCallback((data: Data) => setState({ data, error: null }), []);
  return { ...state, reload, set };
}

export interface LoadedList<Item> {
  items: Item[];
  error: unknown;
  /** Nothing to show yet. */
  isLoading: boolean;
  isLoadingMore: boolean;
  hasMore: boolean;
  reload(): Promise<void>;
  loadMore(): Promise<void>;
  update(change: (items: Item[]) => Item[]): void;
}

const pageSize = 20;

/** A list of the API, page by page. A reload keeps as many items as were shown, and loads the newest thousand again. */
export function useList<Item extends { id: string }>(path: string, query: Query = {}): LoadedList<Item> {
  const key = path + toSearch(query);
  const [items, setItems] = useState<Item[]>([]);
  const [cursor, setCursor] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState<"first" | "more" | null>("first");
  const run = useRef(0);
  const shown = useRef(0);
  shown.current = items.length;

  const load = useCallback(
    async (kind: "first" | "again" | "more", from: string | null) => {
      const own = ++run.current;
      if (kind !== "again") setBusy(kind);
      try {
        const limit = kind === "again" ? Math.min(1000, Math.max(pageSize, shown.current)) : pageSize;
        const separator = key.includes("?") ? "&" : "?";
        const page = await call<Page<Item>>("GET", key + separator + toSearch({ limit, cursor: from }).slice(1));
        if (own !== run.current) return;
        const lastId = page.data.at(-1)?.id ?? "";
        // Newest first, and ids grow with time: items older than the reloaded page stay as they were.
        const isPart = kind === "again" && page.next_cursor !== null && shown.current > page.data.length;
        setItems((before) => {
          if (kind === "more") return [...before, ...page.data];
          return isPart ? [...page.data, ...before.filter(({ id }) => id < lastId)] : page.data;
        });
        if (!isPart) setCursor(page.next_cursor);
        setError(null);
      } catch (failure) {
        if (own === run.current) setError(failure);
      }
      if (own === run.current) setBusy(null);
    },
    [key],
  );

  useEffect(() => {
    setItems([]);
    setError(null);
    void load("first", null);
    return () => {
      run.current++;
    };
  }, [load]);

  const reload = () => load(items.length === 0 ? "first" : "again", null);
  useOnceResumed(error, reload);
  return {
    items,
    error,
    isLoading: busy === "first",
    isLoadingMore: busy === "more",
    hasMore: cursor !== null,
    reload,
    loadMore: () => load("more", cursor),
    update: (change) => setItems(change),
  };
}

/** Retries, after a new sign-in, what could not be loaded because the session had ended. */
function useOnceResumed(error: unknown, reload: () => Promise<void>): void {
  const isMissing = error instanceof ApiError && error.status === 401;
  useEffect(() => (isMissing ? resumptions.onChange(() => void reload()) : undefined), [isMissing, reload]);
}

/** The value once it has not changed for a moment (debounced): for searching while someone types. */
export function useSettled<Value>(value: Value, delayMs = 250): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), delayMs);
    return () => clearTimeout(timer);
  }, [value, delayMs]);
  return settled;
}

/** Runs repeatedly while the page is visible. */
export function useEvery(intervalMs: number, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") latest.current();
    }, intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
}

/** Runs one action at a time; reports whether it is running, and how it failed. */
export function useAction<Args extends unknown[]>(act: (...args: Args) => Promise<void>) {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const running = useRef(false);
  async function run(...args: Args): Promise<void> {
    if (running.current) return;
    running.current = true;
    setIsBusy(true);
    setError(null);
    try {
      await act(...args);
    } catch (failure) {
      setError(failure);
    }
    running.current = false;
    setIsBusy(false);
  }
  return { run, isBusy, error, clear: () => setError(null) };
}
