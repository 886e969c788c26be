/** Actions of the audit trail as sentences. */
import type { AuditEntry, Json } from "../lib/types.ts";

/** By action; `{}` is where its name goes. */
const phrases: Record<string, string> = {
  "companion.create": "created {}",
  "companion.import": "imported companions",
  "companion.update": "changed {what} of {}",
  "companion.restore": "restored an earlier version of {}",
  "companion.delete": "deleted {}",
  "draft.update": "changed the draft of {}",
  "draft.publish": "published the draft of {}",
  "draft.delete": "discarded the draft of {}",
  "embed_token.create": "added the embed token {}",
  "embed_token.revoke": "revoked the embed token {}",
  "key.create": "created the API key {}",
  "key.revoke": "revoked the API key {}",
  "key.replace": "replaced the API key {}",
  "key.expire": "set an end to the API key {}",
  "visitor_key.create": "created the visitor key {}",
  "visitor_key.revoke": "revoked the visitor key {}",
  "visitor_key.reset": "removed visitor keys that couldn't be opened",
  "conversation.delete": "deleted the conversation {}",
  "conversation.note": "added a note to the conversation {}",
  "conversation.ask": "asked for a person in the conversation {}",
  "conversation.miss": "found no one for the conversation {}",
  "conversation.reserve": "reserved the conversation {}",
  "conversation.take": "took the conversation {}",
  "conversation.release": "handed back the conversation {}",
  "conversation.close": "closed the conversation {}",
  "conversation.update": "changed the conversation {}",
  "lead.delete": "deleted the contact details of the conversation {}",
  "visitor.erase": "erased a visitor of {}",
  "account.create": "created the account {}",
  "account.update": "changed {what} of the account {}",
  "account.delete": "deleted the account {}",
  "member.create": "invited {}",
  "member.join": "joined with an invitation",
  "member.update": "changed {what} of {}",
  "member.delete": "removed {}",
  "source.create": "added the source {}",
  "source.update": "replaced the source {}",
  "source.refresh": "refreshed the source {}",
  "source.delete": "deleted the source {}",
  "tool.create": "added the tool {}",
  "tool.update": "changed {what} of the tool {}",
  "tool.delete": "deleted the tool {}",
  "tool.reset": "deleted tools that couldn't be opened",
  "unanswered.dismiss": "dismissed the question {}",
  "budget.create": "created the budget {}",
  "budget.update": "changed {what} of the budget {}",
  "budget.delete": "deleted the budget {}",
  "webhook.create": "created the webhook {}",
  "webhook.update": "changed {what} of the webhook {}",
  "webhook.rotate_secret": "changed the secret of the webhook {}",
  "webhook.disable": "disabled the webhook {}",
  "webhook.delete": "deleted the webhook {}",
  "webhook.reset": "removed webhooks whose secrets couldn't be opened",
  "spending.stop": "stopped spending",
  "spending.start": "started spending again",
  "voice_agent.grant": "granted the voice agent {}",
  "voice_agent.revoke": "withdrew the voice agent {}",
  "session.create": "signed in",
  "session.revoke": "signed out",
  "session.refuse": "failed to sign in",
  "link.create": "created a one-time link",
  "totp.begin": "began to set up two-factor authentication",
  "totp.enable": "turned on two-factor authentication",
  "totp.recover": "used a recovery code",
  "totp.disable": "turned off two-factor authentication",
};

/** The kinds of actions that the page lists alone. */
export const kinds = [
  { name: "companion", label: "Companions" },
  { name: "draft", label: "Drafts" },
  { name: "embed_token", label: "Embed tokens" },
  { name: "source", label: "Knowledge" },
  { name: "tool", label: "Tools" },
  { name: "conversation", label: "Conversations" },
  { name: "key", label: "API keys" },
  { name: "visitor_key", label: "Visitor keys" },
  { name: "webhook", label: "Webhooks" },
  { name: "budget", label: "Budgets" },
  { name: "spending", label: "Spending" },
  { name: "member", label: "Members" },
  { name: "account", label: "Account" },
  { name: "session", label: "Sign-ins" },
  { name: "totp", label: "Two-factor authentication" },
] as const;

/** What goes before the target's name, and after it; null where there is no target to name. */
export function phraseOf({ action, details }: AuditEntry): { before: string; after: string | null } {
  const [before = "", after] = (phrases[action] ?? `${action} {}`)
    .replace("{what}", whatOf(details["changed"]))
    .split("{}");
  return { before, after: after ?? null };
}

/** The names of changed fields, of many the first two. */
function whatOf(changed: Json | undefined): string {
  const names = (Array.isArray(changed) ? changed : []).map((name) => String(name).replaceAll("_", " "));
  if (names.length === 0) return "settings";
  if (names.length > 3) return `${names.slice(0, 2).join(", ")} and ${names.length - 2} more settings`;
  return `the ${new Intl.ListFormat("en").format(names)}`;
}

/** Where the target is shown, if it has a page and is still there. */
export function hrefOf({ action, target_id: id, details }: AuditEntry): string | null {
  const [kind = "", verb] = action.split(".");
  if (id === null || verb === "delete") return null;
  const companion = typeof details["companion_id"] === "string" ? `/app/companions/${details["companion_id"]}` : null;
  if (kind === "companion" || kind === "draft" || action === "visitor.erase") return `/app/companions/${id}`;
  if (kind === "conversation" || kind === "lead") return `/app/conversations/${id}`;
  if (companion !== null && kind === "source") return `${companion}/knowledge`;
  if (companion !== null && kind === "tool") return `${companion}/tools`;
  const pages: Record<string, string> = {
    key: "api-keys",
    visitor_key: "visitor-keys",
    member: "members",
    webhook: "webhooks",
    budget: "budgets",
  };
  return pages[kind] ? `/app/${pages[kind]}` : null;
}
