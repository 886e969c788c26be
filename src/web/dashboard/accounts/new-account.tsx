/** A new account, with its plan and role, and the link with which its owner chooses a password. */
import { useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { formatInstant } from "../lib/format.ts";
import { useAction } from "../lib/load.ts";
import type { Account, ResetLink } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Snippet } from "../ui/copy.tsx";
import { FormDialog, MessageDialog } from "../ui/dialog.tsx";
import { Form, TextField } from "../ui/field.tsx";
import { SelectField } from "../ui/select.tsx";
import { Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

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
  if (made) {
    return (
      <MessageDialog title="Account created" action="Done" onClose={onClose} isSticky>
        <LinkShown email={made.account.email} link={made.link} />
      </MessageDialog>
    );
  }
  return (
    <FormDialog
      title="New account"
      action="Add account"
      submit={submit}
      fields={["email"]}
      class="space-y-5"
      onClose={onClose}
    >
      <TextField
        label="Email"
        type="email"
        required
        autofocus
        value={email}
        onValue={setEmail}
        hint="Used to sign in, and for password links."
        error={fieldProblem(submit.error, "email")}
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
        Send this link to <strong class="font-medium text-ink wrap-anywhere">{email}</strong> over a secure channel, so
        they can choose a password. It works once, until {formatInstant(link.expires_at)}.
      </p>
      <Snippet text={link.url} copyLabel="Copy the link" />
    </div>
  );
}

const planOptions = [
  { value: "free", label: "Free" },
  { value: "paid", label: "Paid" },
] as const;

const roleOptions = [
  { value: "owner", label: "Owner – their own companions" },
  { value: "operator", label: "Operator – manages accounts too" },
] as const;

const operatorRights =
  "Operators can create, suspend and delete every account, yours too, change roles, stop spending, and create password " +
  "links, which give access to the accounts of others.";

const ownerRights = "Owners see and change only what belongs to this account.";

function roleHint(role: string): string {
  return role === "operator" ? operatorRights : ownerRights;
}

interface PlanAndRoleProps {
  account: Account;
  isOwn: boolean;
  onChanged(account: Account): Promise<void>;
}

export function PlanAndRole({ account, isOwn, onChanged }: PlanAndRoleProps) {
  const [plan, setPlan] = useState<string>(account.plan);
  const [role, setRole] = useState<string>(account.role);
  const isChanged = plan !== account.plan || role !== account.role;
  const save = useAction(async () => {
    const body = { ...(plan !== account.plan && { plan }), ...(role !== account.role && { role }) };
    await onChanged(await call<Account>("PATCH", `/api/accounts/${account.id}`, { body }));
    say("Saved.");
  });
  return (
    <Form class="space-y-5" onSubmit={() => isChanged && void save.run()}>
      <SelectField label="Plan" value={plan} options={planOptions} onValue={setPlan} />
      <SelectField
        label="Role"
        value={role}
        options={roleOptions}
        disabled={isOwn}
        hint={isOwn ? "Only another operator can change your role." : roleHint(role)}
        onValue={setRole}
      />
      <Problem error={save.error} />
      <div class="flex flex-wrap items-center gap-3">
        <Button type="submit" kind="primary" disabled={!isChanged} isBusy={save.isBusy}>
          Save
        </Button>
        {isChanged && <p class="text-14 text-muted">Not saved yet</p>}
      </div>
    </Form>
  );
}
