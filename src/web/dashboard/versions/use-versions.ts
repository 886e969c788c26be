/** The versions of a companion, newest first, page by page: they have numbers, not ids. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { CompanionVersion, Page } from "../lib/types.ts";

const pageSize = 30;

export const versionsPath = (companionId: string) => `/api/companions/${companionId}/versions`;

export function useVersions(companionId: string) {
  /** Null until the first page has arrived. */
  const [page, setPage] = useState<Page<CompanionVersion> | null>(null);
  const shown = useRef<Page<CompanionVersion> | null>(null);
  shown.current = page;
  const load = useCallback(
    async (cursor: string | null) => {
      const query = { limit: pageSize, cursor };
      const next = await call<Page<CompanionVersion>>("GET", versionsPath(companionId), { query });
      const before = cursor === null ? [] : (shown.current?.data ?? []);
      setPage({ ...next, data: [...before, ...next.data] });
    },
    [companionId],
  );
  const { run, isBusy, error } = useAction(load);
  useEffect(() => void run(null), [companionId]);
  return {
    items: page?.data ?? null,
    error,
    isBusy,
    hasMore: page !== null && page.next_cursor !== null,
    reload: () => run(null),
    loadMore: () => run(page?.next_cursor ?? null),
  };
}
