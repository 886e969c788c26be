/** What a new API key may do: a preset, or single permissions for those who want fewer or others. */
import { ChevronDown } from "lucide-preact";
import { CheckField, FieldError } from "../ui/field.tsx";
import { Radios } from "../ui/radios.tsx";

interface PermissionsProps {
  chosen: readonly string[];
  onChosen(scopes: readonly string[]): void;
  error: string | undefined;
}

export function Permissions({ chosen, onChosen, error }: PermissionsProps) {
  const same = presets.find(({ scopes }) => isSame(scopes, chosen));
  return (
    <div>
      <Radios
        label="Permissions"
        value={same?.value ?? custom.value}
        onValue={(name) => onChosen(presets.find(({ value }) => value === name)?.scopes ?? chosen)}
        options={same ? presets : [...presets, custom]}
      />
      <FieldError error={error} />
      <details class="mt-4 rounded-lg border border-line px-3.5 py-2.5">
        <summary class="flex list-none items-center gap-3">
          <span class="min-w-0 flex-1">
            <span class="block font-medium">Single permissions</span>
            <span class="block text-13 text-muted">
              {chosen.length} of {scopes.length}
              {chosen.length > 0 && `: ${describe(chosen)}`}
            </span>
          </span>
          <ChevronDown size={16} aria-hidden="true" class="shrink-0 text-muted [[open]>summary_&]:rotate-180" />
        </summary>
        <div class="mt-3 space-y-2">
          {scopes.map(({ name, label, hint }) => (
            <CheckField
              key={name}
              checked={chosen.includes(name)}
              onChecked={(isOn) => onChosen(isOn ? [...chosen, name] : chosen.filter((scope) => scope !== name))}
              {...(hint !== undefined && { hint })}
              label={
                <span class="flex justify-between gap-x-3 max-sm:flex-col">
                  {label} <code class="font-mono text-12 text-muted">{name}</code>
                </span>
              }
            />
          ))}
        </div>
      </details>
    </div>
  );
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((scope) => other.includes(scope));
}

/** "companions, usage (read)". */
function describe(chosen: readonly string[]): string {
  const areas = Map.groupBy(
    scopes.map(({ name }) => name.split(":")).filter(([area, right]) => chosen.includes(`${area}:${right}`)),
    ([area]) => area,
  );
  return [...areas]
    .map(([area, rights]) => (rights.every(([, right]) => right === "read") ? `${area} (read)` : area))
    .join(", ");
}

interface ScopeWords {
  name: string;
  label: string;
  hint?: string;
}

const scopes: readonly ScopeWords[] = [
  { name: "companions:read", label: "See companions and their embed tokens" },
  { name: "companions:write", label: "Create, change and delete companions" },
  {
    name: "knowledge:read",
    label: "Read knowledge",
    hint: "Sources and their passages, what a search finds, and the questions that had no answer: visitors' words.",
  },
  { name: "knowledge:write", label: "Add, replace and delete sources, answer open questions" },
  { name: "conversations:read", label: "Read conversations" },
  { name: "conversations:write", label: "Delete conversations, erase visitors" },
  { name: "conversations:reply", label: "Take conversations and answer visitors as a person" },
  {
    name: "chat:write",
    label: "Chat with companions",
    hint: "Your server passes its users' messages on, by the chat route or with an OpenAI client. Each costs as much as a visitor's message.",
  },
  { name: "usage:read", label: "Read usage and budgets" },
  {
    name: "budgets:write",
    label: "Create, change and delete budgets",
    hint: "Anyone who has the key can lift every spending limit.",
  },
  { name: "webhooks:read", label: "See webhooks and their deliveries" },
  {
    name: "webhooks:write",
    label: "Create, change and delete webhooks",
    hint: "Anyone who has the key can have everything visitors write sent elsewhere.",
  },
  { name: "keys:read", label: "See API keys" },
  { name: "keys:write", label: "Create and revoke API keys" },
  { name: "audit:read", label: "Read the audit trail" },
];
const all = scopes.map(({ name }) => name);

export const readOnly: readonly string[] = all.filter((name) => name.endsWith(":read"));

const presets: readonly { value: string; label: string; hint: string; scopes: readonly string[] }[] = [
  { value: "read", label: "Read only", hint: "See everything, change nothing.", scopes: readOnly },
  {
    value: "companions",
    label: "Manage companions",
    hint: "Create, change and delete companions and what they know.",
    scopes: all.filter((name) => /^(companions|knowledge):/.test(name)),
  },
  {
    value: "platform",
    label: "Run a platform",
    hint: "Manage companions for your customers, with their conversations and usage.",
    scopes: ["companions:read", "companions:write", "conversations:read", "conversations:write", "usage:read"],
  },
  {
    value: "relay",
    label: "Chat only",
    hint: "Your server passes its users' messages on. Each costs as much as a visitor's message.",
    scopes: ["chat:write"],
  },
  {
    value: "all",
    label: "Everything",
    hint: "Also keys, webhooks and budgets: anyone who has the key can lift every spending limit.",
    scopes: all,
  },
];
const custom = { value: "custom", label: "Custom", hint: "The single permissions chosen below." };
