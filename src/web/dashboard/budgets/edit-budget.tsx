/** The dialog in which a budget is made, or changed over the version that was read. */
import { CompanionPicker } from "../companion/companion-picker.tsx";
import { call } from "../lib/api.ts";
import { useLoad, useSettled } from "../lib/load.ts";
import type { ApiKey, Budget, BudgetPreview, Page } from "../lib/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { EditDialog, useDraft } from "../ui/guarded-save.tsx";
import { SelectField } from "../ui/select.tsx";
import { Notice } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import {
  type BudgetDraft,
  findBudgetChanges,
  findBudgetProblems,
  findStop,
  previewBody,
  type SubjectKind,
  toBudgetBody,
  toBudgetDraft,
} from "./budget-draft.ts";
import { MetadataPairs } from "./metadata-pairs.tsx";

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

export function EditBudget({ budget, onSaved, onClose }: EditProps) {
  return (
    <EditDialog<Budget, BudgetDraft>
      path={`/api/budgets/${budget.id}`}
      name="the budget"
      toDraft={toBudgetDraft}
      toBody={toBudgetBody}
      findChanged={findBudgetChanges}
      onSaved={onSaved}
      onClose={onClose}
    >
      {(kept, save) => <BudgetForm budget={kept} onSave={save} onClose={onClose} />}
    </EditDialog>
  );
}

interface BudgetFormProps {
  /** Null for a new one. */
  budget: Budget | null;
  /** Takes a draft without problems. */
  onSave(draft: BudgetDraft): Promise<void>;
  onClose(): void;
}

const subjects: readonly { value: SubjectKind; label: string }[] = [
  { value: "account", label: "The whole account" },
  { value: "companion_id", label: "One companion" },
  { value: "key_id", label: "One API key" },
  { value: "metadata", label: "Companions with certain metadata" },
];

const periods: readonly { value: Budget["period"]; label: string }[] = [
  { value: "month", label: "Each month" },
  { value: "day", label: "Each day" },
];

const actions: readonly { value: Budget["action"]; label: string }[] = [
  { value: "stop", label: "Stop replies" },
  { value: "notify", label: "Notify only – replies continue" },
];

const fields = ["account", "companion_id", "key_id", "metadata", "limit_micros", "period", "action"] as const;

const readPreview = (body: string, signal: AbortSignal) =>
  call<BudgetPreview>("POST", "/api/budgets/preview", { body: JSON.parse(body), signal });

/** Of the draft as it is now; null until it has arrived. */
function usePreview(draft: BudgetDraft): BudgetPreview | null {
  const wanted = JSON.stringify(previewBody(draft));
  const settled = useSettled(wanted);
  const { data } = useLoad(settled === "null" ? null : settled, readPreview);
  return settled === wanted ? data : null;
}

/** The dialog in which a budget is made or changed. */
function BudgetForm({ budget, onSave, onClose }: BudgetFormProps) {
  const { draft, change, problemOf, form } = useDraft({
    kept: budget,
    toDraft: toBudgetDraft,
    findProblems: findBudgetProblems,
    fields,
    onSave,
  });
  const keys = useLoad<Page<ApiKey>>(draft.kind === "key_id" ? "/api/keys?limit=1000" : null).data?.data;
  const stop = findStop(draft, usePreview(draft));
  return (
    <FormDialog
      title={budget === null ? "New budget" : "Edit budget"}
      action={stop !== null ? "Save and stop replies" : budget === null ? "Create budget" : "Save"}
      {...form}
      class="space-y-5"
      onClose={onClose}
    >
      <SelectField
        label="Applies to"
        value={draft.kind}
        options={subjects}
        onValue={(kind) => change({ kind: kind as SubjectKind })}
        error={problemOf("account")}
      />
      {draft.kind === "companion_id" && (
        <CompanionPicker
          value={draft.companion_id}
          everyone={null}
          onValue={(id) => change({ companion_id: id ?? "" })}
          error={problemOf("companion_id")}
        />
      )}
      {draft.kind === "key_id" && (
        <SelectField
          label="API key"
          value={draft.key_id}
          options={[
            { value: "", label: keys?.length === 0 ? "There are no keys" : "Choose one" },
            ...(keys ?? []).map(({ id, name, last_four }) => ({ value: id, label: `${name} …${last_four}` })),
          ]}
          onValue={(key_id) => change({ key_id })}
          hint="Counts what the key relays, what companions created with it answer, and the same for keys it created or that replace it."
          error={problemOf("key_id")}
        />
      )}
      {draft.kind === "metadata" && (
        <MetadataPairs pairs={draft.pairs} onPairs={(pairs) => change({ pairs })} error={problemOf("metadata")} />
      )}
      <div class="grid items-start gap-5 sm:grid-cols-2">
        <TextField
          label="US dollars"
          inputMode="decimal"
          autofocus={budget !== null}
          value={draft.amount}
          onValue={(amount) => change({ amount })}
          placeholder="50.00"
          error={problemOf("limit_micros")}
        />
        <SelectField
          label="Period"
          value={draft.period}
          options={periods}
          onValue={(period) => change({ period: period as Budget["period"] })}
          hint="In UTC. Includes what's already been spent this period."
          error={problemOf("period")}
        />
      </div>
      <SelectField
        label="When it is reached"
        value={draft.action}
        options={actions}
        onValue={(action) => change({ action: action as Budget["action"] })}
        hint={
          draft.action === "stop"
            ? "Refuses replies that could cost more than is left, and all replies of models without a price. Visitors see that the chat is unavailable."
            : "Shown in the dashboard, and in the operator's log and metrics."
        }
        error={problemOf("action")}
      />
      <div role="status" class="empty:hidden">
        {stop !== null && <Notice tone="bad">{stop}</Notice>}
      </div>
    </FormDialog>
  );
}
