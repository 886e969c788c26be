/** What distinguishes a key from others of the same name, and what ends with it: shown before it is ended. */
import type { ComponentChildren } from "preact";
import { formatInstant, formatNumber, formatRelative } from "../lib/format.ts";
import type { ApiKey } from "../lib/types.ts";
import { hasEnded, type KeyLine, shortKey, shownKey } from "./key-line.ts";

export function KeyFacts({ apiKey }: { apiKey: ApiKey }) {
  const { name, created_at, last_used_at, requests, expires_at } = apiKey;
  return (
    <dl class="grid grid-cols-[auto_minmax(0,1fr)] gap-x-5 gap-y-1 rounded-lg border border-line bg-sunken px-4 py-3 text-ink">
      <Fact term="Name">
        <span dir="auto">{name}</span>
      </Fact>
      <Fact term="Key">
        <code class="font-mono text-[0.92em]">{shownKey(apiKey)}</code>
      </Fact>
      <Fact term="Created">{when(created_at)}</Fact>
      <Fact term="Last used">{last_used_at === null ? "never" : when(last_used_at)}</Fact>
      <Fact term="Requests">{formatNumber(requests)}</Fact>
      {expires_at !== null && <Fact term={hasEnded(apiKey) ? "Expired" : "Expires"}>{when(expires_at)}</Fact>}
    </dl>
  );
}

function Fact({ term, children }: { term: string; children: ComponentChildren }) {
  return (
    <>
      <dt class="text-14 text-muted">{term}</dt>
      <dd class="min-w-0 wrap-anywhere">{children}</dd>
    </>
  );
}

function when(iso: string): string {
  return `${formatInstant(iso)} (${formatRelative(iso)})`;
}

const maxShown = 8;

/** The keys created with it. */
export function EndsWithIt({ line: { children } }: { line: KeyLine }) {
  if (children.length === 0) return <p>No other key ends with it.</p>;
  const further = children.length - maxShown;
  return (
    <div>
      <p class="font-medium text-ink">
        {children.length === 1 ? "1 key created with it ends too:" : `${children.length} keys created with it end too:`}
      </p>
      <ul class="mt-1.5 space-y-1">
        {children.slice(0, maxShown).map((child) => (
          <li key={child.id} class="flex flex-wrap items-baseline justify-between gap-x-4 border-l-2 border-line pl-3">
            <span class="min-w-0 wrap-anywhere">
              <span dir="auto" class="text-ink">
                {child.name}
              </span>{" "}
              <code class="font-mono text-13">{shortKey(child)}</code>
            </span>
            <span class="text-13">
              {child.last_used_at === null ? "never used" : `used ${formatRelative(child.last_used_at)}`}
            </span>
          </li>
        ))}
      </ul>
      {further > 0 && <p class="mt-1.5">… and {formatNumber(further)} more.</p>}
    </div>
  );
}
