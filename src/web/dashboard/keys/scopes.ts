/** What a key may do: the scopes, and the sets of them that are used most. */

interface ScopeWords {
  name: string;
  label: string;
  hint?: string;
}

export const scopes: readonly ScopeWords[] = [
  { name: "companions:read", label: "See companions and their embed tokens" },
  { name: "companions:write", label: "Create, change and delete companions" },
  { name: "conversations:read", label: "Read what visitors said" },
  { name: "conversations:write", label: "Delete conversations, erase visitors" },
  { name: "usage:read", label: "Read usage and budgets" },
  { name: "keys:read", label: "See API keys" },
  { name: "keys:write", label: "Create and revoke API keys" },
  { name: "audit:read", label: "Read the audit trail" },
  {
    name: "chat:write",
    label: "Chat with companions",
    hint: "Your server passes its users' messages on, by the chat route or with an OpenAI client. Each costs what a visitor's message costs.",
  },
  {
    name: "budgets:write",
    label: "Create, change and delete budgets",
    hint: "Whoever has the key can lift every limit on what is spent.",
  },
  {
    name: "knowledge:read",
    label: "Read knowledge",
    hint: "Sources and their passages, what a search finds, and the questions that had no answer: visitors' words.",
  },
  { name: "knowledge:write", label: "Add, replace and delete sources, answer open questions" },
  { name: "webhooks:read", label: "See webhooks and their deliveries" },
  {
    name: "webhooks:write",
    label: "Create, change and delete webhooks",
    hint: "Whoever has the key can have everything that visitors say sent elsewhere.",
  },
];

export const presets: readonly { name: string; label: string; scopes: readonly string[] }[] = [
  {
    name: "platform",
    label: "Platform: companions, conversations, usage",
    scopes: ["companions:read", "companions:write", "conversations:read", "conversations:write", "usage:read"],
  },
  { name: "relay", label: "Chat only: your server passes messages on", scopes: ["chat:write"] },
  { name: "companions", label: "Companions only", scopes: ["companions:read", "companions:write"] },
  {
    name: "reader",
    label: "Read only",
    scopes: ["companions:read", "conversations:read", "usage:read", "keys:read", "audit:read", "knowledge:read"],
  },
  { name: "all", label: "Everything", scopes: scopes.map(({ name }) => name) },
];

export const lifetimes = [
  { value: "", label: "Never" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
] as const;

export function expiryOf(days: string, nowMs = Date.now()): string | null {
  return days === "" ? null : new Date(nowMs + Number(days) * 86_400_000).toISOString();
}
