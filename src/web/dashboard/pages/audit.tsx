/** `/app/audit`: who changed what, when, from where. */
import { shortId } from "../lib/format.ts";
import { useList } from "../lib/load.ts";
import type { AuditEntry, Json } from "../lib/types.ts";
import { type Column, List } from "../ui/list.tsx";
import { PageHead, Time } from "../ui/page.tsx";
import { Empty } from "../ui/states.tsx";

const actions: Record<string, string> = {
  "companion.create": "Created a companion",
  "companion.import": "Imported companions",
  "companion.update": "Changed a companion",
  "companion.delete": "Deleted a companion",
  "embed_token.create": "Added an embed token",
  "embed_token.revoke": "Revoked an embed token",
  "key.create": "Created an API key",
  "key.revoke": "Revoked an API key",
  "key.replace": "Replaced an API key",
  "key.expire": "Gave an API key an end",
  "visitor_key.create": "Made a visitor key",
  "visitor_key.revoke": "Revoked a visitor key",
  "visitor_key.reset": "Removed visitor keys that could not be opened",
  "conversation.delete": "Deleted a conversation",
  "visitor.erase": "Erased a visitor",
  "account.create": "Added an account",
  "account.update": "Changed an account",
  "account.delete": "Deleted an account",
  "member.create": "Invited a member",
  "member.join": "Joined with an invitation",
  "member.update": "Changed a member",
  "member.delete": "Removed a member",
  "source.create": "Added a source of knowledge",
  "source.update": "Replaced a source of knowledge",
  "source.refresh": "Had a source read again",
  "source.delete": "Deleted a source of knowledge",
  "tool.create": "Added a tool",
  "tool.update": "Changed a tool",
  "tool.delete": "Deleted a tool",
  "tool.reset": "Deleted tools that could not be opened",
  "unanswered.dismiss": "Dismissed an open question",
  "budget.create": "Created a budget",
  "budget.update": "Changed a budget",
  "budget.delete": "Deleted a budget",
  "webhook.create": "Created a webhook",
  "webhook.update": "Changed a webhook",
  "webhook.rotate_secret": "Made a new secret for a webhook",
  "webhook.disable": "Disabled a webhook that did not confirm",
  "webhook.delete": "Deleted a webhook",
  "webhook.reset": "Removed webhooks whose secrets could not be opened",
  "spending.stop": "Stopped spending",
  "spending.start": "Started spending again",
  "voice_agent.grant": "Granted a voice agent",
  "voice_agent.revoke": "Took a voice agent away",
  "session.create": "Signed in",
  "session.revoke": "Signed out",
  "session.refuse": "Failed to sign in",
  "link.create": "Made a one-time link",
  "totp.begin": "Began to set up the second factor",
  "totp.enable": "Turned the second factor on",
  "totp.recover": "Used a recovery code",
  "totp.disable": "Turned the second factor off",
};

export default function AuditPage() {
  const list = useList<AuditEntry>("/api/audit");
  const columns: readonly Column<AuditEntry>[] = [
    {
      title: "What",
      class: "title",
      cell: (entry) => (
        <span class="min-w-0">
          <span class="font-medium">{actions[entry.action] ?? entry.action}</span>
          <Details details={entry.details} />
        </span>
      ),
    },
    { title: "On", cell: (entry) => <Target entry={entry} /> },
    { title: "By", cell: ({ actor }) => <span dir="auto">{actorName(actor)}</span> },
    { title: "From", cell: ({ actor }) => <code class="font-mono text-13 text-muted">{actor.ip ?? "–"}</code> },
    { title: "When", class: "whitespace-nowrap text-muted", cell: ({ created_at }) => <Time at={created_at} /> },
  ];
  return (
    <>
      <PageHead title="Audit trail">Every change to companions, tokens, keys and accounts, and every sign-in.</PageHead>
      <List label="Audit trail" columns={columns} list={list} empty={<Empty title="Nothing has happened yet" />} />
    </>
  );
}

function actorName({ kind, id, name }: AuditEntry["actor"]): string {
  if (kind === "key") return `Key ${name ?? `…${shortId(id ?? "")}`}`;
  if (name !== null) return name;
  const names = { operator: "An operator", visitor: "The visitor", model: "The model", clock: "The clock" };
  return { ...names, session: "Dashboard", cli: "Command line", system: "The server" }[kind];
}

function Target({ entry: { action, target_id, target_name } }: { entry: AuditEntry }) {
  if (target_id === null) return <span class="text-muted">–</span>;
  const id =
    target_name === null ? (
      <code class="font-mono text-13 text-muted">…{shortId(target_id)}</code>
    ) : (
      <span dir="auto" class="wrap-anywhere">
        {target_name}
      </span>
    );
  if (!/^(companion\.(create|update|restore)|draft\..+)$/.test(action)) return id;
  return (
    <a href={`/app/companions/${target_id}`} class="hover:text-accent hover:underline">
      {id}
    </a>
  );
}

function Details({ details }: { details: { [key: string]: Json } }) {
  const words = Object.entries(details).map(([name, value]) => `${name}: ${toText(value)}`);
  if (words.length === 0) return null;
  return (
    <span dir="auto" class="block max-w-96 text-13 text-muted wrap-anywhere">
      {words.join(", ")}
    </span>
  );
}

function toText(value: Json): string {
  if (Array.isArray(value)) return value.map(toText).join(" ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
