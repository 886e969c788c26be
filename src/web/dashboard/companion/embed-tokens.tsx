/** A companion's embed tokens: added, named, watched, revoked. */
import { Plus, Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { formatRelative } from "../lib/format.ts";
import { type LoadedList, useAction } from "../lib/load.ts";
import type { Companion, EmbedToken } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmDelete, FormDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { type Column, List } from "../ui/list.tsx";
import { RowActions } from "../ui/menu.tsx";
import { Section, Time } from "../ui/page.tsx";
import { Empty } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

interface EmbedTokensProps {
  companion: Companion;
  tokens: LoadedList<EmbedToken>;
}

export function EmbedTokens({ companion, tokens }: EmbedTokensProps) {
  const [isAdding, setIsAdding] = useState(false);
  const [revoked, setRevoked] = useState<EmbedToken | null>(null);
  const path = `/api/companions/${companion.id}/embed-tokens`;
  const columns: readonly Column<EmbedToken>[] = [
    { title: "Name", cell: ({ name }) => <span dir="auto">{name ?? "Unnamed"}</span> },
    {
      title: "Token",
      cell: ({ token }) => <code class="font-mono text-13 text-muted wrap-anywhere">{token}</code>,
    },
    {
      title: "Last used",
      onPhone: ({ last_used_at: at }) => (at === null ? "Never used" : <>Last used {formatRelative(at)}</>),
      class: "whitespace-nowrap text-muted",
      cell: (token) => <Time at={token.last_used_at} />,
    },
    {
      title: "",
      class: "text-right",
      cell: (token) => (
        <RowActions
          name={token.name ?? token.token}
          items={[{ label: "Revoke…", Icon: Trash2, isRisk: true, onChoose: () => setRevoked(token) }]}
        />
      ),
    },
  ];
  return (
    <Section
      title="Embed tokens"
      hint="Public, and valid for this companion only. Use one per website, so you can revoke each on its own."
      actions={
        <Button icon={Plus} onClick={() => setIsAdding(true)}>
          Add a token
        </Button>
      }
    >
      <List
        label="Embed tokens"
        columns={columns}
        list={tokens}
        empty={<Empty title="No embed tokens">Visitors can't reach your companion until you add one.</Empty>}
      />
      {isAdding && <AddToken path={path} onAdded={tokens.reload} onClose={() => setIsAdding(false)} />}
      {revoked && (
        <ConfirmDelete
          title={`Revoke ${revoked.name ?? "the token"}?`}
          action="Revoke"
          path={`${path}/${revoked.id}`}
          done="Revoked."
          onDone={tokens.reload}
          onClose={() => setRevoked(null)}
        >
          <p>
            The chat disappears from every page that uses this token, and its link <code>/c/…</code> stops working for
            good.{" "}
            {revoked.last_used_at === null
              ? "It's never been used."
              : `Last used ${formatRelative(revoked.last_used_at)}. Anything still using it will stop working.`}
          </p>
          {tokens.items.length === 1 && !tokens.hasMore && (
            <p>It's your only token: visitors won't reach your companion without it.</p>
          )}
        </ConfirmDelete>
      )}
    </Section>
  );
}

interface AddTokenProps {
  path: string;
  onAdded(): Promise<void>;
  onClose(): void;
}

function AddToken({ path, onAdded, onClose }: AddTokenProps) {
  const [name, setName] = useState("");
  const submit = useAction(async () => {
    await call("POST", path, { body: { name: name.trim() || null } });
    say("Added.");
    onClose();
    await onAdded();
  });
  return (
    <FormDialog title="Add an embed token" action="Add" submit={submit} onClose={onClose}>
      <TextField
        label="Name"
        autofocus
        value={name}
        onValue={setName}
        placeholder="Landing page"
        hint="The website it's for."
        error={fieldProblem(submit.error, "name")}
      />
    </FormDialog>
  );
}
