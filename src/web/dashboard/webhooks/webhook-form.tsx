/** The dialog in which a webhook is added or changed. */
import { useLayoutEffect, useState } from "preact/hooks";
import { MetadataPairs } from "../budgets/metadata-pairs.tsx";
import { ApiError, fieldProblem } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { noPairs } from "../lib/metadata-pairs.ts";
import type { Webhook } from "../lib/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { CheckField, SelectField, TextField } from "../ui/field.tsx";
import {
  eventTypes,
  eventWords,
  findWebhookProblems,
  toWebhookDraft,
  type WebhookDraft,
  type WebhookProblems,
} from "./webhook-draft.ts";

interface WebhookFormProps {
  /** Null for a new one. */
  webhook: Webhook | null;
  /** Takes a draft without problems. */
  onSave(draft: WebhookDraft): Promise<void>;
  onClose(): void;
}

/** Fields that show what is wrong with them. */
const ownFields = ["url", "events", "metadata"];

export function WebhookForm({ webhook, onSave, onClose }: WebhookFormProps) {
  const [draft, setDraft] = useState(() => toWebhookDraft(webhook));
  useLayoutEffect(() => setDraft(toWebhookDraft(webhook)), [webhook]);
  const [isTold, setIsTold] = useState(false);
  const own: WebhookProblems = isTold ? findWebhookProblems(draft) : {};
  const change = (part: Partial<WebhookDraft>) => setDraft((before) => ({ ...before, ...part }));
  const submit = useAction(async () => {
    setIsTold(true);
    if (Object.keys(findWebhookProblems(draft)).length > 0) {
      requestAnimationFrame(() => document.querySelector<HTMLElement>("dialog [aria-invalid=true]")?.focus());
      return;
    }
    await onSave(draft);
  });
  const problemOf = (field: keyof WebhookProblems) => own[field] ?? fieldProblem(submit.error, field);
  const sent = submit.error instanceof ApiError ? submit.error.fields : [];
  const { events, pairs } = draft;
  return (
    <FormDialog
      title={webhook === null ? "Add a webhook" : "Edit the webhook"}
      action={webhook === null ? "Add" : "Save"}
      submit={submit}
      kept={webhook}
      isTold={sent.length > 0 && sent.every(({ param }) => ownFields.includes(param.split(".")[0] ?? ""))}
      class="space-y-5"
      onClose={onClose}
    >
      <TextField
        label="Address"
        isCode
        autofocus
        value={draft.address}
        onValue={(address) => change({ address })}
        placeholder="https://shop.example/companiond-events"
        hint="Events are sent there by signed POST, and again until your server confirms them."
        error={problemOf("url")}
      />
      <div>
        <SelectField
          label="Which events"
          value={draft.isForAll ? "all" : "some"}
          onValue={(value) => change({ isForAll: value === "all" })}
          options={[
            { value: "some", label: "Those that I choose" },
            { value: "all", label: "All, also those of later versions" },
          ]}
          error={problemOf("events")}
        />
        {!draft.isForAll && (
          <fieldset class="mt-3 space-y-2">
            <legend class="sr-only">Events</legend>
            {eventTypes.map((type) => (
              <CheckField
                key={type}
                checked={events.includes(type)}
                onChecked={(isOn) =>
                  change({ events: isOn ? [...events, type] : events.filter((one) => one !== type) })
                }
                label={
                  <span class="flex justify-between gap-x-3 max-sm:flex-col">
                    {eventWords[type]} <code class="font-mono text-[0.8rem] text-muted">{type}</code>
                  </span>
                }
              />
            ))}
          </fieldset>
        )}
      </div>
      <SelectField
        label="Of which companions"
        value={pairs === null ? "all" : "some"}
        onValue={(value) => change({ pairs: value === "all" ? null : noPairs })}
        options={[
          { value: "all", label: "All companions" },
          { value: "some", label: "Companions with certain metadata" },
        ]}
      />
      {pairs !== null && (
        <MetadataPairs pairs={pairs} onPairs={(next) => change({ pairs: next })} error={problemOf("metadata")} />
      )}
      <div class="space-y-2">
        <CheckField
          label="Send what visitors and companions said"
          hint="Otherwise events have ids alone, and your server reads what it needs with an API key."
          checked={draft.includeContent}
          onChecked={(includeContent) => change({ includeContent })}
        />
        <CheckField
          label="Enabled"
          hint="A disabled webhook receives nothing, and events that wait for it are dropped for good."
          checked={draft.isEnabled}
          onChecked={(isEnabled) => change({ isEnabled })}
        />
      </div>
    </FormDialog>
  );
}
