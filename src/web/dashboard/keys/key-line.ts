/** How keys are related: which one created which, and which one replaced which. */
import { useEffect, useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { ApiKey, Page } from "../lib/types.ts";

/** `cmp_live_abcd…wxyz`; older keys were stored without their end. */
export function shownKey({ start, last_four }: ApiKey): string {
  return `${start}…${last_four ?? ""}`;
}

/** Enough to recognize it in a sentence. */
export function shortKey(key: ApiKey): string {
  return key.last_four === null ? `${key.start}…` : `…${key.last_four}`;
}

export function hasEnded({ expires_at }: ApiKey): boolean {
  return expires_at !== null && Date.parse(expires_at) <= Date.now();
}

function endOf({ expires_at }: ApiKey): number {
  return expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at);
}

export interface KeyLine {
  /** The key as it is now. */
  key: ApiKey;
  /** What it created, and what those created: all that ends with it. */
  children: ApiKey[];
  replacedBy: ApiKey | null;
  /** The key that it replaced, while that still exists. */
  replaces: ApiKey | null;
}

/** Null until it is known; what ends must be shown before it does. */
export function useKeyLine(key: ApiKey): { line: KeyLine | null; error: unknown; reload(): void } {
  const [line, setLine] = useState<KeyLine | null>(null);
  const { run, error } = useAction(async () => setLine(findLine(key, await loadAllKeys())));
  useEffect(() => void run(), []);
  return { line, error, reload: () => void run() };
}

async function loadAllKeys(): Promise<ApiKey[]> {
  const all: ApiKey[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<ApiKey> = await call("GET", "/api/keys", { query: { limit: 1000, cursor } });
    all.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return all;
}

function findLine(key: ApiKey, all: readonly ApiKey[]): KeyLine {
  const fresh = all.find(({ id }) => id === key.id) ?? key;
  // Of a key that has expired, what it replaced itself by goes on.
  const endsWith = (made: ApiKey, maker: ApiKey) => !hasEnded(fresh) || endOf(made) <= endOf(maker);
  const madeBy = (maker: ApiKey) => all.filter((made) => made.created_by_key_id === maker.id && endsWith(made, maker));
  const children = madeBy(fresh);
  // The list grows during the loop.
  for (const child of children) children.push(...madeBy(child));
  return {
    key: fresh,
    children,
    replacedBy: all.find(({ id }) => id === fresh.replaced_by_key_id) ?? null,
    replaces: all.find(({ replaced_by_key_id }) => replaced_by_key_id === key.id) ?? null,
  };
}
