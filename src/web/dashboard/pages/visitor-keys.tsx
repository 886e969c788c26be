/** `/app/visitor-keys`: the keys with which websites vouch for their visitors, and the code that does so. */
import { Copy, Plus, Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { formatDay, formatInstant, shortId } from "../lib/format.ts";
import { useList } from "../lib/load.ts";
import { isSameFilter } from "../lib/metadata-pairs.ts";
import type { VisitorKey } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { copy } from "../ui/copy.tsx";
import { lazy } from "../ui/lazy.tsx";
import { type Column, List } from "../ui/list.tsx";
import { RowActions } from "../ui/menu.tsx";
import { PageHead, Section } from "../ui/page.tsx";
import { Empty } from "../ui/states.tsx";
import { describeReach, SignGuide } from "../visitor-keys/sign-guide.tsx";

const NewVisitorKeyDialog = lazy(
  async () => (await import("../visitor-keys/visitor-key-dialogs.tsx")).NewVisitorKeyDialog,
);
const RevokeVisitorKey = lazy(async () => (await import("../visitor-keys/visitor-key-dialogs.tsx")).RevokeVisitorKey);

type Asked = { what: "create" } | { what: "revoke"; key: VisitorKey } | null;

export default function VisitorKeysPage() {
  const list = useList<VisitorKey>("/api/visitor-keys");
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  const create = (
    <Button icon={Plus} kind="primary" onClick={() => setAsked({ what: "create" })}>
      New key
    </Button>
  );
  const columns: readonly Column<VisitorKey>[] = [
    {
      title: "Name",
      cell: ({ id, name }) => (
        <span class="block min-w-0">
          <span dir="auto" class="font-medium wrap-anywhere">
            {name}
          </span>
          <code class="block font-mono text-13 text-muted">
            <span class="max-md:sr-only">{id.slice(0, -8)}</span>
            <span aria-hidden="true" class="md:hidden">
              …
            </span>
            {shortId(id)}
          </code>
        </span>
      ),
    },
    {
      title: "For",
      cell: (key) => (
        <span dir="auto" class="wrap-anywhere">
          {describeReach(key)}
        </span>
      ),
    },
    { title: "Algorithm", cell: ({ algorithm }) => <code class="font-mono text-13">{algorithm}</code> },
    {
      title: "Created",
      onPhone: "titled",
      class: "whitespace-nowrap text-muted",
      cell: ({ created_at }) => (
        <time dateTime={created_at} title={formatInstant(created_at)}>
          {formatDay(created_at)}
        </time>
      ),
    },
    {
      title: "",
      class: "text-right",
      cell: (key) => (
        <RowActions
          name={key.name}
          items={[
            { label: "Copy ID", Icon: Copy, onChoose: () => void copy(key.id) },
            { label: "Revoke…", Icon: Trash2, isRisk: true, onChoose: () => setAsked({ what: "revoke", key }) },
          ]}
        />
      ),
    },
  ];
  const { items } = list;
  return (
    <>
      <PageHead title="Visitor keys" actions={create}>
        Let companions recognize visitors who are signed in to your website. Your server signs a token that no one else
        can create.
      </PageHead>
      <div class="space-y-6">
        <List
          label="Visitor keys"
          columns={columns}
          list={list}
          empty={
            <Empty title="No visitor keys yet" action={create}>
              With a key your server signs a token for each visitor: their conversations follow them from one device to
              another, and no one else can read or continue them.
            </Empty>
          }
        />
        {items.length > 0 && (
          <>
            <Section title="Replacing a key">
              <p class="text-pretty text-muted">
                Make a second key for the same companions and let your server sign with it, while tokens of the first
                stay good. When the last of those has ended, an hour later with the code below, revoke the first. There
                can be no third.
              </p>
            </Section>
            <SignGuide keys={items} />
          </>
        )}
      </div>
      {asked?.what === "create" && <NewVisitorKeyDialog onMade={list.reload} onClose={close} />}
      {asked?.what === "revoke" && (
        <RevokeVisitorKey
          visitorKey={asked.key}
          other={
            items.find(({ id, metadata }) => id !== asked.key.id && isSameFilter(metadata, asked.key.metadata)) ?? null
          }
          onChanged={list.reload}
          onClose={close}
        />
      )}
    </>
  );
}
