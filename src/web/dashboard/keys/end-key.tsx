/** How a key ends: replaced by a new one after a grace period, or revoked with all that it made. */
import { useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { formatDay, formatInstant, formatRelative } from "../lib/format.ts";
import { useAction } from "../lib/load.ts";
import type { ApiKey, MadeKey } from "../lib/types.ts";
import { ConfirmDelete, FormDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { SelectField } from "../ui/select.tsx";
import { Notice, Pending } from "../ui/states.tsx";
import { EndsWithIt, KeyFacts } from "./key-facts.tsx";
import { hasEnded, type KeyLine, shortKey, shownKey, useKeyLine } from "./key-line.ts";
import { KeyShown } from "./key-shown.tsx";

interface RotateKeyProps {
  old: ApiKey;
  onChanged(): Promise<void>;
  onClose(): void;
}

const graces = [
  { value: "0", label: "Stop immediately" },
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "1 day" },
  { value: "604800", label: "7 days" },
] as const;

export function RotateKey({ old, onChanged, onClose }: RotateKeyProps) {
  const [name, setName] = useState(old.name);
  const [grace, setGrace] = useState("86400");
  const [made, setMade] = useState<MadeKey | null>(null);
  const keyLine = useKeyLine(old);
  const { line } = keyLine;
  const submit = useAction(async () => {
    const renewed = { name, scopes: old.scopes, expires_at: renewedExpiry(old) };
    const body = { ...renewed, replaces: old.id, grace_seconds: Number(grace) };
    setMade(await call<MadeKey>("POST", "/api/keys", { body }));
    await onChanged();
  });
  if (made !== null) {
    return (
      <KeyShown made={made} onClose={onClose}>
        <p class="mt-5">
          The old key <code class="font-mono text-[0.92em]">{shownKey(old)}</code> {endOf(old, Number(grace), made)}
        </p>
      </KeyShown>
    );
  }
  return (
    <FormDialog
      title={`Rotate ${old.name}`}
      action="Create new key"
      isReady={line !== null && name.trim() !== ""}
      submit={submit}
      class="space-y-5"
      isWide
      onClose={onClose}
    >
      <p class="text-muted">
        You get a new key with the same scopes{lifetimeOf(old)}. Use it instead of this one, which ends automatically:
      </p>
      <div class="space-y-3 text-muted">
        <KeyFacts apiKey={line?.key ?? old} />
        {line === null ? <Pending of={keyLine} lines={1} /> : <EndsWithIt line={line} />}
      </div>
      <SelectField
        label="Old key keeps working for"
        value={grace}
        onValue={setGrace}
        options={graces}
        hint={grace === "0" ? "Anything using it will stop working until it has the new one." : undefined}
        error={fieldProblem(submit.error, "grace_seconds")}
      />
      <TextField
        label="Name of the new key"
        required
        maxLength={100}
        value={name}
        onValue={setName}
        error={fieldProblem(submit.error, "name")}
      />
    </FormDialog>
  );
}

/** As long as the old key was given; a key that never expires is replaced by one that does not either. */
function renewedExpiry({ created_at, expires_at }: ApiKey): string | null {
  if (expires_at === null) return null;
  return new Date(Date.now() + Date.parse(expires_at) - Date.parse(created_at)).toISOString();
}

function lifetimeOf(old: ApiKey): string {
  const expiry = renewedExpiry(old);
  return expiry === null ? "" : `, which expires on ${formatDay(expiry)}`;
}

function endOf(old: ApiKey, graceSeconds: number, made: MadeKey): string {
  if (graceSeconds === 0) return "has ended.";
  const chosenMs = Date.parse(made.created_at) + graceSeconds * 1000;
  const ownMs = old.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(old.expires_at);
  const endMs = Math.min(chosenMs, ownMs);
  return endMs <= Date.now() ? "has expired." : `works until ${formatInstant(new Date(endMs).toISOString())}.`;
}

interface RevokeKeyProps {
  apiKey: ApiKey;
  onChanged(): Promise<void>;
  onClose(): void;
}

export function RevokeKey({ apiKey, onChanged, onClose }: RevokeKeyProps) {
  const keyLine = useKeyLine(apiKey);
  const { line } = keyLine;
  const count = 1 + (line?.children.length ?? 0);
  return (
    <ConfirmDelete
      title={`Revoke ${apiKey.name} ${shortKey(apiKey)}?`}
      action={count === 1 ? "Revoke" : `Revoke ${count} keys`}
      isReady={line !== null}
      path={`/api/keys/${apiKey.id}`}
      done={count === 1 ? "Revoked." : `Revoked ${count} keys.`}
      onDone={onChanged}
      onClose={onClose}
    >
      <KeyFacts apiKey={line?.key ?? apiKey} />
      {line === null ? <Pending of={keyLine} lines={2} /> : <Consequences line={line} />}
    </ConfirmDelete>
  );
}

function Consequences({ line }: { line: KeyLine }) {
  const { key, replacedBy, replaces } = line;
  return (
    <>
      {replaces !== null && (
        <Notice>
          This is the new key: it replaced <code>{shortKey(replaces)}</code>. To end the old one, revoke that.
        </Notice>
      )}
      {key.replaced_at !== null && (
        <Notice tone={replacedBy?.created_by_key_id === key.id && !hasEnded(key) ? "bad" : "good"}>
          Replaced{" "}
          {replacedBy !== null && (
            <>
              by <code>{shortKey(replacedBy)}</code>{" "}
            </>
          )}
          on {formatDay(key.replaced_at)}.
          {replacedBy?.created_by_key_id === key.id &&
            !hasEnded(key) &&
            " It has rotated itself, and now the new key ends with it. If that one is in use, let this one expire."}
        </Notice>
      )}
      <p>{verdict(key)}</p>
      <EndsWithIt line={line} />
    </>
  );
}

function verdict(key: ApiKey): string {
  if (hasEnded(key)) return "It has expired. Revoking it removes it from this list.";
  if (key.last_used_at === null) return "It stops working immediately. It has never been used.";
  return `It stops working immediately. It was used ${formatRelative(key.last_used_at)}: anything still using it will break.`;
}
