/** `/app/api-keys`: keys for the account's servers. */
import { Plus } from "lucide-preact";
import { useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { formatDay, formatNumber, formatRelative } from "../lib/format.ts";
import { useList } from "../lib/load.ts";
import type { ApiKey } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { lazy } from "../ui/lazy.tsx";
import { type Column, ListFrame, Table } from "../ui/list.tsx";
import { PageHead, Time } from "../ui/page.tsx";
import { Badge, Empty } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

const NewKey = lazy(async () => (await import("../keys/new-key.tsx")).NewKey);
const RotateKey = lazy(async () => (await import("../keys/rotate-key.tsx")).RotateKey);

type Asked = { what: "revoke" | "rotate"; key: ApiKey } | { what: "create" } | null;

export default function ApiKeysPage() {
  const list = useList<ApiKey>("/api/keys");
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  const create = (
    <Button kind="primary" onClick={() => setAsked({ what: "create" })}>
      <Plus size={17} aria-hidden="true" />
      New key
    </Button>
  );
  const columns: readonly Column<ApiKey>[] = [
    {
      title: "Name",
      class: "title",
      cell: (key) => (
        <span class="min-w-0">
          <span dir="auto" class="font-medium wrap-anywhere">
            {key.name}
          </span>
          <code class="block font-mono text-[0.86rem] text-muted">{key.start}…</code>
        </span>
      ),
    },
    { title: "Scopes", cell: (key) => <Scopes scopes={key.scopes} /> },
    { title: "Last used", class: "whitespace-nowrap text-muted", cell: (key) => <Time at={key.last_used_at} /> },
    { title: "Requests", isNumber: true, cell: (key) => formatNumber(key.requests) },
    { title: "Expires", class: "whitespace-nowrap", cell: (key) => <Expiry at={key.expires_at} /> },
    {
      title: "",
      class: "text-right",
      cell: (key) => (
        <span class="flex justify-end gap-2 max-md:w-full">
          <Button onClick={() => setAsked({ what: "rotate", key })}>Rotate…</Button>
          <Button kind="risk" onClick={() => setAsked({ what: "revoke", key })}>
            Revoke…
          </Button>
        </span>
      ),
    },
  ];
  return (
    <>
      <PageHead title="API keys" actions={create}>
        For your own servers, never for a browser: whoever has a key can do all that its scopes allow.{" "}
        <a href="/docs" target="_blank" rel="noreferrer" class="text-accent underline">
          API reference
        </a>
      </PageHead>
      <ListFrame
        list={list}
        empty={
          <Empty title="No API keys yet" action={create}>
            With a key your servers create companions, read conversations and usage, and manage further keys.
          </Empty>
        }
      >
        <Table label="API keys" columns={columns} rows={list.items} keyOf={({ id }) => id} />
      </ListFrame>
      {asked?.what === "create" && <NewKey onMade={list.reload} onClose={close} />}
      {asked?.what === "rotate" && <RotateKey old={asked.key} onChanged={list.reload} onClose={close} />}
      {asked?.what === "revoke" && (
        <Confirm
          title={`Revoke ${asked.key.name}?`}
          action="Revoke"
          onConfirm={async () => {
            await call("DELETE", `/api/keys/${asked.key.id}`);
            say("Revoked.");
            await list.reload();
          }}
          onClose={close}
        >
          <p>
            It is refused from the next request on.{" "}
            {asked.key.last_used_at === null
              ? "It has never been used."
              : `It was used ${formatRelative(asked.key.last_used_at)}: what still uses it will break.`}
          </p>
        </Confirm>
      )}
    </>
  );
}

function Scopes({ scopes }: { scopes: readonly string[] }) {
  return (
    <span class="flex flex-wrap gap-1 max-md:justify-end">
      {scopes.map((scope) => (
        <span key={scope} class="rounded-md bg-sunken px-1.5 py-0.5 font-mono text-[0.8rem] text-muted">
          {scope}
        </span>
      ))}
    </span>
  );
}

function Expiry({ at }: { at: string | null }) {
  if (at === null) return <span class="text-muted">never</span>;
  if (Date.parse(at) <= Date.now()) return <Badge tone="bad">expired</Badge>;
  return <span title={formatDay(at)}>{formatRelative(at)}</span>;
}
