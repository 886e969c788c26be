/** `/app/api-keys`: keys for the account's servers. */
import { Plus, RotateCw, Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import type { AskedOfKey } from "../keys/key-dialog.tsx";
import { hasEnded, shortKey, shownKey } from "../keys/key-line.ts";
import { countOf, formatDay, formatInstant, formatRelative } from "../lib/format.ts";
import { useList } from "../lib/load.ts";
import type { ApiKey } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { lazy } from "../ui/lazy.tsx";
import { type Column, List } from "../ui/list.tsx";
import { RowActions } from "../ui/menu.tsx";
import { PageHead, Time } from "../ui/page.tsx";
import { Badge, Empty } from "../ui/states.tsx";

const KeyDialog = lazy(async () => (await import("../keys/key-dialog.tsx")).KeyDialog);

const acts = [
  { what: "rotate", label: "Rotate…", Icon: RotateCw },
  { what: "revoke", label: "Revoke…", Icon: Trash2, isRisk: true },
] as const;

export default function ApiKeysPage() {
  const list = useList<ApiKey>("/api/keys");
  const [asked, setAsked] = useState<AskedOfKey | null>(null);
  const create = (
    <Button icon={Plus} kind="primary" onClick={() => setAsked({ what: "create" })}>
      New key
    </Button>
  );
  const columns: readonly Column<ApiKey>[] = [
    { title: "Name", cell: (key) => <KeyName apiKey={key} others={list.items} /> },
    {
      title: "Created",
      onPhone: "titled",
      class: "text-muted lg:whitespace-nowrap",
      cell: (key) => (
        <span>
          <time dateTime={key.created_at} title={formatInstant(key.created_at)}>
            {formatDay(key.created_at)}
          </time>
          <Comma />
          <Expiry apiKey={key} />
        </span>
      ),
    },
    {
      title: "Last used",
      class: "text-muted lg:whitespace-nowrap",
      cell: ({ last_used_at, requests }) => (
        <span>
          <Time at={last_used_at} />
          {requests > 0 && <span class="block text-13">{countOf(requests, "request")}</span>}
        </span>
      ),
      onPhone: ({ last_used_at: at, requests }) =>
        at === null ? "Never used" : `${countOf(requests, "request")}, the last ${formatRelative(at)}`,
    },
    {
      title: "",
      class: "text-right",
      cell: (key) => (
        <RowActions
          name={`${key.name} ${shortKey(key)}`}
          items={acts
            .filter(({ what }) => what !== "rotate" || key.replaced_at === null)
            .map(({ what, ...item }) => ({ ...item, onChoose: () => setAsked({ what, key }) }))}
        />
      ),
    },
  ];
  return (
    <>
      <PageHead title="API keys" actions={create}>
        For your own servers. Keep keys out of browsers: anyone who has one can do everything its scopes allow.{" "}
        <a href="/docs" target="_blank" rel="noreferrer" class="text-accent underline">
          API reference
        </a>
      </PageHead>
      <List
        label="API keys"
        columns={columns}
        list={list}
        empty={
          <Empty title="No API keys yet" action={create}>
            Create one to manage companions, read conversations and usage, or chat from your own servers.
          </Empty>
        }
      />
      {asked && <KeyDialog asked={asked} onChanged={list.reload} onClose={() => setAsked(null)} />}
    </>
  );
}

/** Where a second line of a cell stands in one line with the first. */
function Comma() {
  return <span class="md:hidden">, </span>;
}

function Expiry({ apiKey }: { apiKey: ApiKey }) {
  const at = apiKey.expires_at;
  if (at === null) return <span class="text-13 md:block">never expires</span>;
  return (
    <span class="text-13 md:block" title={formatInstant(at)}>
      {hasEnded(apiKey) ? <Badge tone="bad">Expired</Badge> : `expires ${formatRelative(at)}`}
    </span>
  );
}

interface KeyNameProps {
  apiKey: ApiKey;
  /** As many as are loaded. */
  others: readonly ApiKey[];
}

/** A key in the list: its name, its known first and last characters, its state, and what it may do. */
function KeyName({ apiKey, others }: KeyNameProps) {
  const { name, replaced_at, replaced_by_key_id, created_by_key_id } = apiKey;
  return (
    <span class="block min-w-0">
      <span dir="auto" class={`font-medium wrap-anywhere ${replaced_at === null ? "" : "text-muted"}`}>
        {name}
      </span>
      <code class="block whitespace-nowrap font-mono text-13 text-muted">{shownKey(apiKey)}</code>
      {replaced_at !== null && (
        <span class="mt-1 flex flex-wrap items-center gap-2 text-13">
          <Badge tone="warn">Replaced</Badge>
          <span title={formatInstant(replaced_at)}>
            {by(replaced_by_key_id, others)} on {formatDay(replaced_at)}
          </span>
        </span>
      )}
      {created_by_key_id !== null && (
        <span class="mt-0.5 block text-13 text-muted">Created {by(created_by_key_id, others) || "by another key"}</span>
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
        <span key={thing} class="rounded-md bg-sunken px-1.5 py-0.5 font-mono text-12 text-muted">
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
