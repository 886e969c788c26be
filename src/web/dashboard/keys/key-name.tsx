/** A key in the list: its name, its known first and last characters, its state, and what it may do. */
import { formatDay, formatInstant } from "../lib/format.ts";
import type { ApiKey } from "../lib/types.ts";
import { Badge } from "../ui/states.tsx";
import { shortKey, shownKey } from "./key-line.ts";

interface KeyNameProps {
  apiKey: ApiKey;
  /** As many as are loaded. */
  others: readonly ApiKey[];
}

export function KeyName({ apiKey, others }: KeyNameProps) {
  const { name, replaced_at, replaced_by_key_id, created_by_key_id } = apiKey;
  return (
    <span class="block min-w-0">
      <span dir="auto" class={`font-medium wrap-anywhere ${replaced_at === null ? "" : "text-muted"}`}>
        {name}
      </span>
      <code class="block whitespace-nowrap font-mono text-[0.86rem] text-muted">{shownKey(apiKey)}</code>
      {replaced_at !== null && (
        <span class="mt-1 flex flex-wrap items-center gap-x-1.5 text-[0.86rem]">
          <Badge tone="warn">Replaced</Badge>
          <span title={formatInstant(replaced_at)}>
            {by(replaced_by_key_id, others)} on {formatDay(replaced_at)}
          </span>
        </span>
      )}
      {created_by_key_id !== null && (
        <span class="mt-0.5 block text-[0.86rem] text-muted">
          Made {by(created_by_key_id, others) || "by another key"}
        </span>
      )}
      <Scopes scopes={apiKey.scopes} />
    </span>
  );
}

/** `companions:read,write`: scopes of one resource share an entry. */
function Scopes({ scopes }: { scopes: readonly string[] }) {
  const rights = Map.groupBy(scopes, (scope) => scope.slice(0, scope.indexOf(":")));
  return (
    <span class="flex flex-wrap gap-1 pt-1.5">
      {[...rights].map(([thing, those]) => (
        <span key={thing} class="rounded-md bg-sunken px-1.5 py-0.5 font-mono text-[0.8rem] text-muted">
          {thing}:
          <wbr />
          {those.map((scope) => scope.slice(thing.length + 1)).join(",")}
        </span>
      ))}
    </span>
  );
}

function by(id: string | null, others: readonly ApiKey[]) {
  const key = others.find((other) => other.id === id);
  if (key === undefined) return "";
  return (
    <>
      by <code class="font-mono">{shortKey(key)}</code>
    </>
  );
}
