/** Makes a budget, or changes one over the version that was read. */
import { call, tagOf } from "../lib/api.ts";
import { changedFields } from "../lib/changed-fields.ts";
import { type Loaded, useLoad } from "../lib/load.ts";
import type { Budget } from "../lib/types.ts";
import { LoadingDialog, useGuardedSave } from "../ui/guarded-save.tsx";
import { say } from "../ui/toast.tsx";
import { type BudgetDraft, findBudgetChanges, toBudgetBody, toBudgetDraft } from "./budget-draft.ts";
import { BudgetForm } from "./budget-form.tsx";

interface MakeProps {
  onSaved(): Promise<void>;
  onClose(): void;
}

export function MakeBudget({ onSaved, onClose }: MakeProps) {
  async function create(draft: BudgetDraft): Promise<void> {
    await call("POST", "/api/budgets", { body: toBudgetBody(draft) });
    say("Created.");
    await onSaved();
    onClose();
  }
  return <BudgetForm budget={null} onSave={create} onClose={onClose} />;
}

interface EditProps extends MakeProps {
  budget: Pick<Budget, "id">;
}

export function EditBudget({ budget, ...rest }: EditProps) {
  const path = `/api/budgets/${budget.id}`;
  const loaded = useLoad<Budget>(path);
  if (loaded.data === null) return <LoadingDialog title="Edit the budget" of={loaded} onClose={rest.onClose} />;
  return <EditLoaded {...rest} path={path} budget={loaded.data} set={loaded.set} />;
}

interface LoadedProps extends MakeProps, Pick<Loaded<Budget>, "set"> {
  path: string;
  budget: Budget;
}

function EditLoaded({ path, budget, set, onSaved, onClose }: LoadedProps) {
  const { save, question } = useGuardedSave<Budget, BudgetDraft>({
    name: "The budget",
    base: budget,
    tagOf,
    read: () => call("GET", path),
    findChanged: findBudgetChanges,
    async write(draft, _, ifMatch) {
      const body = changedFields(toBudgetBody(toBudgetDraft(budget)), toBudgetBody(draft));
      await call("PATCH", path, { body, ifMatch });
      say("Saved.");
      await onSaved();
      onClose();
    },
    load: set,
  });
  return (
    <>
      <BudgetForm budget={budget} onSave={save} onClose={onClose} />
      {question}
    </>
  );
}
