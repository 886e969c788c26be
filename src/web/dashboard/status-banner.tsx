/** Warns operators, on every page, that a language model does not respond. */
import { formatDay, formatInstant, formatNumber } from "./lib/format.ts";
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
      {(data?.retiring_models ?? []).map((one) => (
        <div
          key={`${one.provider}/${one.model}`}
          class="mb-6 rounded-xl bg-warn-tint px-4 py-3 text-[0.94rem] text-warn"
        >
          <p class="wrap-anywhere">
            <strong class="font-semibold">{describeEnd(one.shutdown_date)}</strong> The provider{" "}
            {isPast(one.shutdown_date) ? "shut down" : "shuts down"} {one.model} on {formatDay(one.shutdown_date)}.{" "}
            {countCompanions(one.companions)}
          </p>
          <p class="mt-1">{adviseOn(one.provider)}</p>
        </div>
      ))}
    </div>
  );
}

function isPast(date: string): boolean {
  return date <= new Date().toISOString().slice(0, 10);
}

function describeEnd(date: string): string {
  return isPast(date) ? "A model is gone." : "A model ends soon.";
}

function countCompanions(companions: number): string {
  if (companions === 0) return "No companion uses it.";
  return companions === 1 ? "One companion uses it." : `${formatNumber(companions)} companions use it.`;
}

function adviseOn(provider: string): string {
  return provider === "default"
    ? "Set COMPANIOND_MODEL to another model, and name it in COMPANIOND_MODELS where companions choose it."
    : `Name another model of ${provider} in the file that COMPANIOND_PROVIDERS_FILE names.`;
}
