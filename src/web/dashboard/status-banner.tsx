/** Warns operators, on every page, that a language model does not respond. */
import { formatInstant } from "./lib/format.ts";
import { useEvery, useLoad } from "./lib/load.ts";
import type { Status } from "./lib/types.ts";
import { countReplies } from "./usage/failure-words.ts";

const lookEveryMs = 20_000;

export function StatusBanner() {
  const { data, reload } = useLoad<Status>("/api/status");
  useEvery(lookEveryMs, () => void reload());
  return (
    <div role="status">
      {(data?.silent_models ?? []).map(({ model, detail, advice, replies, since }) => (
        <div key={model} class="mb-6 rounded-xl bg-bad-tint px-4 py-3 text-[0.94rem] text-bad">
          <p class="wrap-anywhere">
            <strong class="font-semibold">Replies fail.</strong> {detail}
          </p>
          <p class="mt-1">
            {advice} {countReplies(replies)} failed since {formatInstant(since)}.
          </p>
        </div>
      ))}
    </div>
  );
}
