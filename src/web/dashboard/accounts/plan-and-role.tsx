/** An account's plan and role, which count once they are saved: an arrow key changes what is chosen. */
import { useState } from "preact/hooks";
import { call, toSentence } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { Account } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Form, SelectField } from "../ui/field.tsx";
import { Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

export const planOptions = [
  { value: "free", label: "Free" },
  { value: "paid", label: "Paid" },
] as const;

export const roleOptions = [
  { value: "owner", label: "Owner: own companions" },
  { value: "operator", label: "Operator: manages accounts, too" },
] as const;

const operatorRights =
  "An operator may make, suspend and delete every account, yours too, give roles, stop spending, and make links with " +
  "which passwords are chosen: so whoever is one can get into the accounts of others.";

const ownerRights = "An owner sees and changes only what belongs to this account.";

export function roleHint(role: string): string {
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
        hint={isOwn ? "Your own role: another operator can change it." : roleHint(role)}
        onValue={setRole}
      />
      {save.error !== null && <Problem>{toSentence(save.error)}</Problem>}
      <div class="flex flex-wrap items-center gap-3">
        <Button type="submit" kind="primary" disabled={!isChanged} isBusy={save.isBusy}>
          Save
        </Button>
        {isChanged && <p class="text-[0.94rem] text-muted">Not saved yet</p>}
      </div>
    </Form>
  );
}
