/** A new account, and the link with which its owner chooses a password. */
import { useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { formatInstant } from "../lib/format.ts";
import { useAction } from "../lib/load.ts";
import type { Account, ResetLink } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Snippet } from "../ui/copy.tsx";
import { Dialog, DialogActions, FormDialog } from "../ui/dialog.tsx";
import { SelectField, TextField } from "../ui/field.tsx";
import { planOptions, roleHint, roleOptions } from "./plan-and-role.tsx";

interface NewAccountProps {
  onMade(): Promise<void>;
  onClose(): void;
}

export function NewAccount({ onMade, onClose }: NewAccountProps) {
  const [email, setEmail] = useState("");
  const [plan, setPlan] = useState("free");
  const [role, setRole] = useState("owner");
  const [made, setMade] = useState<{ account: Account; link: ResetLink } | null>(null);
  const submit = useAction(async () => {
    const account = await call<Account>("POST", "/api/accounts", { body: { email, plan, role } });
    const link = await call<ResetLink>("POST", `/api/accounts/${account.id}/reset-link`);
    setMade({ account, link });
    await onMade();
  });
  const emailProblem = fieldProblem(submit.error, "email");
  if (made) {
    return (
      <Dialog title="Account created" onClose={onClose} isSticky>
        <LinkShown email={made.account.email} link={made.link} />
        <DialogActions>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </DialogActions>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title="New account"
      action="Add account"
      submit={submit}
      isTold={emailProblem !== undefined}
      class="space-y-5"
      onClose={onClose}
    >
      <TextField
        label="E-mail"
        type="email"
        required
        autofocus
        value={email}
        onValue={setEmail}
        hint="For signing in. Nothing is sent to it."
        error={emailProblem}
      />
      <SelectField label="Plan" value={plan} onValue={setPlan} options={planOptions} />
      <SelectField label="Role" value={role} onValue={setRole} options={roleOptions} hint={roleHint(role)} />
    </FormDialog>
  );
}

/** A one-time link, to be handed over. */
export function LinkShown({ email, link }: { email: string; link: ResetLink }) {
  return (
    <div class="space-y-3">
      <p class="text-muted">
        Give this link to <strong class="font-medium text-ink wrap-anywhere">{email}</strong> over a safe channel. It
        lets them choose a password. It works once, until {formatInstant(link.expires_at)}.
      </p>
      <Snippet text={link.url} copyLabel="Copy the link" />
    </div>
  );
}
