/** Warns operators, on every page, of what visitors feel: models that do not respond or end, and refused page views. */
import type { ComponentChildren } from "preact";
import { countOf, formatDay, formatInstant, formatNumber } from "./lib/format.ts";
import { useEvery, useLoad } from "./lib/load.ts";
import type { Status } from "./lib/types.ts";

const refreshEveryMs = 20_000;

export function StatusBanner() {
  const { data, reload } = useLoad<Status>("/api/status");
  useEvery(refreshEveryMs, () => void reload());
  return (
    <div role="status">
      {(data?.silent_models ?? []).map(({ model, detail, advice, replies, since }) => (
        <Warning key={model} tint="bg-bad-tint text-bad" title="Replies are failing." what={detail}>
          {advice} {countOf(replies, "reply", "replies")} failed since {formatInstant(since)}.
        </Warning>
      ))}
      {(data?.retiring_models ?? []).map((one) => (
        <Warning
          key={`${one.provider}/${one.model}`}
          title={describeEnd(one.shutdown_date)}
          what={`The provider ${isPast(one.shutdown_date) ? "shut down" : "shuts down"} ${one.model} on ${formatDay(one.shutdown_date)}. ${countCompanions(one.companions)}`}
        >
          {adviseOn(one.provider)}
        </Warning>
      ))}
      {(data?.refused_configs ?? []).map(({ window, detail, advice, since, last_at }) => (
        <Warning key={window} title="Page views are refused." what={detail}>
          {advice} The first was refused {formatInstant(since)}, the last {formatInstant(last_at)}.
        </Warning>
      ))}
    </div>
  );
}

interface WarningProps {
  tint?: string;
  title: string;
  what: string;
  children: ComponentChildren;
}

function Warning({ tint = "bg-warn-tint text-warn", title, what, children }: WarningProps) {
  return (
    <div class={`mb-6 rounded-lg px-4 py-3 text-14 ${tint}`}>
      <p class="wrap-anywhere">
        <strong class="font-semibold">{title}</strong> {what}
      </p>
      <p class="mt-1">{children}</p>
    </div>
  );
}

function isPast(date: string): boolean {
  return date <= new Date().toISOString().slice(0, 10);
}

function describeEnd(date: string): string {
  return isPast(date) ? "A model has been shut down." : "A model will be shut down soon.";
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
