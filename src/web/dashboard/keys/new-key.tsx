/** A new API key: what it may do, and then the key itself, shown once. */
import { useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { MadeKey } from "../lib/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { CheckField, SelectField, TextField } from "../ui/field.tsx";
import { KeyShown } from "./key-shown.tsx";

interface NewKeyProps {
  onMade(): Promise<void>;
  onClose(): void;
}

export function NewKey({ onMade, onClose }: NewKeyProps) {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<readonly string[]>(presets[0]?.scopes ?? []);
  const [days, setDays] = useState("");
  const [made, setMade] = useState<MadeKey | null>(null);
  const submit = useAction(async () => {
    const body = { name, scopes: chosen, expires_at: expiryOf(days) };
    setMade(await call<MadeKey>("POST", "/api/keys", { body }));
    await onMade();
  });
  const preset = presets.find(
    ({ scopes }) => scopes.length === chosen.length && scopes.every((one) => chosen.includes(one)),
  );
  if (made) return <KeyShown made={made} onClose={onClose} />;
  return (
    <FormDialog
      title="New API key"
      action="Create key"
      isReady={chosen.length > 0 && name.trim() !== ""}
      submit={submit}
      class="space-y-5"
      isWide
      onClose={onClose}
    >
      <TextField
        label="Name"
        required
        autofocus
        maxLength={100}
        value={name}
        onValue={setName}
        placeholder="Billing server"
        hint="What the key is for, so you'll recognize it later."
        error={fieldProblem(submit.error, "name")}
      />
      <SelectField
        label="Permissions"
        value={preset?.name ?? ""}
        onValue={(value) => setChosen(presets.find(({ name }) => name === value)?.scopes ?? chosen)}
        options={[
          ...presets.map(({ name, label }) => ({ value: name, label })),
          ...(preset ? [] : [{ value: "", label: "Custom" }]),
        ]}
        error={fieldProblem(submit.error, "scopes")}
      />
      <fieldset>
        <legend class="sr-only">Scopes</legend>
        <div class="space-y-2">
          {scopes.map(({ name, label, hint }) => (
            <CheckField
              key={name}
              checked={chosen.includes(name)}
              onChecked={(isOn) => setChosen(isOn ? [...chosen, name] : chosen.filter((scope) => scope !== name))}
              {...(hint !== undefined && { hint })}
              label={
                <span class="flex justify-between gap-x-3 max-sm:flex-col">
                  {label} <code class="font-mono text-12 text-muted">{name}</code>
                </span>
              }
            />
          ))}
        </div>
      </fieldset>
      <SelectField
        label="Expires"
        value={days}
        onValue={setDays}
        options={lifetimes}
        error={fieldProblem(submit.error, "expires_at")}
      />
    </FormDialog>
  );
}

interface ScopeWords {
  name: string;
  label: string;
  hint?: string;
}

const scopes: readonly ScopeWords[] = [
  { name: "companions:read", label: "See companions and their embed tokens" },
  { name: "companions:write", label: "Create, change and delete companions" },
  { name: "conversations:read", label: "Read conversations" },
  { name: "conversations:write", label: "Delete conversations, erase visitors" },
  { name: "conversations:reply", label: "Take conversations and answer visitors as a person" },
  { name: "usage:read", label: "Read usage and budgets" },
  { name: "keys:read", label: "See API keys" },
  { name: "keys:write", label: "Create and revoke API keys" },
  { name: "audit:read", label: "Read the audit trail" },
  {
    name: "chat:write",
    label: "Chat with companions",
    hint: "Your server passes its users' messages on, by the chat route or with an OpenAI client. Each costs as much as a visitor's message.",
  },
  {
    name: "budgets:write",
    label: "Create, change and delete budgets",
    hint: "Anyone who has the key can lift every spending limit.",
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
    hint: "Anyone who has the key can have everything visitors write sent elsewhere.",
  },
];

const presets: readonly { name: string; label: string; scopes: readonly string[] }[] = [
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

const lifetimes = [
  { value: "", label: "Never" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
] as const;

function expiryOf(days: string, nowMs = Date.now()): string | null {
  return days === "" ? null : new Date(nowMs + Number(days) * 86_400_000).toISOString();
}
