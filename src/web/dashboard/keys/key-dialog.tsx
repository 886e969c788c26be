/** What a key's buttons lead to, loaded with the first of them: a new one, which is shown once, or the end of one. */
import { useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { ApiKey, MadeKey } from "../lib/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { SelectField } from "../ui/select.tsx";
import { RevokeKey, RotateKey } from "./end-key.tsx";
import { KeyShown } from "./key-shown.tsx";
import { Permissions, readOnly } from "./permissions.tsx";

export type AskedOfKey = { what: "revoke" | "rotate"; key: ApiKey } | { what: "create" };

interface KeyDialogProps {
  asked: AskedOfKey;
  onChanged(): Promise<void>;
  onClose(): void;
}

export function KeyDialog({ asked, onChanged, onClose }: KeyDialogProps) {
  if (asked.what === "create") return <NewKey onChanged={onChanged} onClose={onClose} />;
  if (asked.what === "rotate") return <RotateKey old={asked.key} onChanged={onChanged} onClose={onClose} />;
  return <RevokeKey apiKey={asked.key} onChanged={onChanged} onClose={onClose} />;
}

/** What it may do, and then the key itself. */
function NewKey({ onChanged, onClose }: Omit<KeyDialogProps, "asked">) {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState(readOnly);
  const [days, setDays] = useState("");
  const [made, setMade] = useState<MadeKey | null>(null);
  const submit = useAction(async () => {
    const body = { name, scopes: chosen, expires_at: expiryOf(days) };
    setMade(await call<MadeKey>("POST", "/api/keys", { body }));
    await onChanged();
  });
  if (made) return <KeyShown made={made} onClose={onClose} />;
  return (
    <FormDialog
      title="New API key"
      action="Create key"
      isReady={chosen.length > 0 && name.trim() !== ""}
      fields={["name", "scopes", "expires_at"]}
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
      <Permissions chosen={chosen} onChosen={setChosen} error={fieldProblem(submit.error, "scopes")} />
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

const lifetimes = [
  { value: "", label: "Never" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
] as const;

function expiryOf(days: string): string | null {
  return days === "" ? null : new Date(Date.now() + Number(days) * 86_400_000).toISOString();
}
