/** How far a new account has come: from a model that answers to a companion that visitors can see. */
import { isUnderWay } from "../knowledge/source-words.ts";
import { useEvery, useLoad } from "../lib/load.ts";
import { useRemembered } from "../lib/remembered.ts";
import { useSession } from "../lib/session.ts";
import type { Companion, Page, Source } from "../lib/types.ts";

export const stepNames = ["model", "companion", "knowledge", "website"] as const;
export type StepName = (typeof stepNames)[number];

export const stepTitles: Readonly<Record<StepName, string>> = {
  model: "Model",
  companion: "Name and look",
  knowledge: "Knowledge",
  website: "Put it on your site",
};

/** Often enough to see a visit as it happens. */
const watchMs = 3000;

export interface Progress {
  /** The account's own: the one that was seen, else its first. Null before there is one. */
  readonly companion: Companion | null;
  readonly done: Readonly<Record<StepName, boolean>>;
  /** Whether knowledge is on its way. */
  readonly isReading: boolean;
  readonly count: number;
  readonly isLoading: boolean;
  readonly error: unknown;
  reload(): Promise<void>;
  noteModel(): void;
}

/** Only the operator can test the model, so only they have that to do. */
export function useProgress(): Progress {
  const { account, server } = useSession();
  const companions = useLoad<Page<Companion>>("/api/companions?limit=5");
  const all = companions.data?.data ?? [];
  const companion = all.find(({ seen_on }) => seen_on.length > 0) ?? all.at(-1) ?? null;
  const sources = useLoad<Page<Source>>(companion && `/api/companions/${companion.id}/sources?limit=20`);
  const [isTested, noteModel] = useRemembered("model-tested");
  const known = sources.data?.data ?? [];
  const done = {
    model: !server.is_demo_llm && (isTested || account.role !== "operator"),
    companion: companion !== null,
    knowledge: known.some(({ status }) => status === "ready"),
    website: (companion?.seen_on.length ?? 0) > 0,
  };
  const reload = async () => {
    await Promise.all([companions.reload(), sources.reload()]);
  };
  useEvery(watchMs, () => {
    if (companion !== null && !(done.website && done.knowledge)) void reload();
  });
  return {
    companion,
    done,
    isReading: known.some(isUnderWay),
    count: Object.values(done).filter(Boolean).length,
    isLoading: companions.data === null || (companion !== null && sources.data === null && sources.error === null),
    error: companions.data === null ? companions.error : null,
    reload,
    noteModel,
  };
}
