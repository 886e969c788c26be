/** All sources of a companion, watched as long as some are being read. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useLoad } from "../lib/load.ts";
import type { Page, Source } from "../lib/types.ts";
import { describeChanges, isUnderWay } from "./source-words.ts";

/** A text is often read by then. */
const firstMs = 400;
const leastMs = 1000;
const maxMs = 12_000;

export interface Sources {
  /** Null until they have arrived. */
  items: readonly Source[] | null;
  error: unknown;
  /** What has just come to an end, for screen readers. */
  news: string;
  reload(): Promise<void>;
  /** Shows what a call has answered, before the next reload. */
  put(source: Source): void;
}

export function useSources(companionId: string): Sources {
  // A companion has at most 500, so that they can be searched here.
  const { data, error, reload, set } = useLoad<Page<Source>>(`/api/companions/${companionId}/sources?limit=1000`);
  const items = data?.data ?? null;
  const latest = useRef<Page<Source> | null>(null);
  const [news, setNews] = useState("");
  const waitMs = useRef(firstMs);

  useEffect(() => {
    const before = latest.current?.data ?? [];
    // What was put is no news.
    if (data === null || data === latest.current) return;
    latest.current = data;
    const changes = describeChanges(before, data.data);
    if (changes !== "") setNews(changes);
    waitMs.current = isSame(before, data.data) ? Math.min(maxMs, waitMs.current * 1.5) : leastMs;
  }, [data]);

  const isWatching = items?.some(isUnderWay) ?? false;
  useEffect(() => {
    if (!isWatching) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const arm = () => {
      clearTimeout(timer);
      // Large lists are asked for less often.
      const delayMs = waitMs.current + (latest.current?.data.length ?? 0) * 5;
      if (document.visibilityState === "visible") timer = setTimeout(poll, delayMs);
    };
    const poll = async () => {
      await reload();
      if (!isOver) arm();
    };
    const onVisible = () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") void poll();
    };
    document.addEventListener("visibilitychange", onVisible);
    arm();
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [isWatching, reload]);

  function put(source: Source): void {
    waitMs.current = firstMs;
    const known = latest.current?.data ?? [];
    const isKnown = known.some(({ id }) => id === source.id);
    const next = isKnown ? known.map((other) => (other.id === source.id ? source : other)) : [source, ...known];
    const page = { next_cursor: null, ...latest.current, data: next };
    // Several may be put before the next drawing.
    latest.current = page;
    set(page);
    // Instead of an answer under way that does not know it yet.
    void reload();
  }

  return { items, error, news, reload, put };
}

function isSame(before: readonly Source[], after: readonly Source[]): boolean {
  const states = (of: readonly Source[]) =>
    JSON.stringify(of.map(({ id, status, progress }) => [id, status, progress]));
  return states(before) === states(after);
}
