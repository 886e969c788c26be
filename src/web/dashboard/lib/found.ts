/** What may not be there: null then, where `useLoad` would show an error. */
import { useCallback } from "preact/hooks";
import { ApiError, call } from "./api.ts";
import { useLoad } from "./load.ts";

/** Rejects as a call does, but for 404. */
export async function find<Data extends object>(path: string, signal?: AbortSignal): Promise<Data | null> {
  try {
    return await call<Data>("GET", path, signal && { signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

const wrap = async <Data extends object>(path: string, signal: AbortSignal) => ({
  found: await find<Data>(path, signal),
});

/** `found` is undefined until that is known. */
export function useFound<Data extends object>(path: string | null) {
  const { data, error, reload, set: replace } = useLoad<{ found: Data | null }>(path, wrap<Data>);
  const set = useCallback((found: Data | null) => replace({ found }), [replace]);
  return { found: data?.found, error, reload, set };
}
