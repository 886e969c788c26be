/** The dialog in which a webhook is added or changed. */
import { MetadataPairs } from "../budgets/metadata-pairs.tsx";
import { noPairs } from "../lib/metadata-pairs.ts";
import type { Webhook } from "../lib/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { CheckField, TextField } from "../ui/field.tsx";
import { useDraft } from "../ui/guarded-save.tsx";
import { SelectField } from "../ui/select.tsx";
import { eventTypes, eventWords, findWebhookProblems, toWebhookDraft, type WebhookDraft } from "./webhook-draft.ts";

interface WebhookFormProps {
  /** Null for a new one. */
  webhook: Webhook | null;
  /** Takes a draft without problems. */
  onSave(draft: WebhookDraft): Promise<void>;
  onClose(): void;
}

/** Fields that show what is wrong with them. */
const fields = ["url", "events", "metadata"] as const;

export function WebhookForm({ webhook, onSave, onClose }: WebhookFormProps) {
  const { draft, change, problemOf, form } = useDraft({
    kept: webhook,
    toDraft: toWebhookDraft,
    findProblems: findWebhookProblems,
    fields,
    onSave,
  });
  const { events, pairs } = draft;
  return (
    <FormDialog
      title={webhook === null ? "Add webhook" : "Edit webhook"}
      action={webhook === null ? "Add" : "Save"}
      {...form}
      class="space-y-5"
      onClose={onClose}
    >
      <TextField
        label="URL"
        isCode
        autofocus
        value={draft.address}
        onValue={(address) => change({ address })}
        placeholder="https://shop.example/companiond-events"
        hint="We POST signed events here and retry until your server confirms them."
        error={problemOf("url")}
      />
      <div>
        <SelectField
          label="Events"
          value={draft.isForAll ? "all" : "some"}
          onValue={(value) => change({ isForAll: value === "all" })}
          options={[
            { value: "some", label: "Selected events" },
            { value: "all", label: "All, including future ones" },
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
                    {eventWords[type]} <code class="font-mono text-12 text-muted">{type}</code>
                  </span>
                }
              />
            ))}
          </fieldset>
        )}
      </div>
      <SelectField
        label="Companions"
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
          label="Include messages"
          hint="Otherwise events only have IDs, and your server fetches what it needs with an API key."
          checked={draft.includeContent}
          onChecked={(includeContent) => change({ includeContent })}
        />
        <CheckField
          label="Enabled"
          hint="While disabled, it receives nothing, and waiting events are dropped."
          checked={draft.isEnabled}
          onChecked={(isEnabled) => change({ isEnabled })}
        />
      </div>
    </FormDialog>
  );
}
