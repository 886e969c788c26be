/** The parts of a companion's form. */
import { Plus, X } from "lucide-preact";
import { estimateTokens, formatNumber } from "../lib/format.ts";
import { useSession } from "../lib/session.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { FieldError, TextField } from "../ui/field.tsx";
import { useRowFocus } from "../ui/focus.ts";
import { Section } from "../ui/page.tsx";
import { SelectField } from "../ui/select.tsx";
import { maxPromptLength, maxStarters, type SectionProps, tie } from "./draft.ts";
import { Fold } from "./fold.tsx";
import { describeMetadata } from "./metadata-draft.ts";
import { MetadataEditor } from "./metadata-editor.tsx";
import { splitOrigins } from "./origins.ts";
import { PlaceholderGuide } from "./visitors-sections.tsx";

interface FormProps extends SectionProps {
  /** The companion's; none for a new one, of which the prompt comes first and the questions later. */
  id: string | undefined;
}

export function IdentitySection(props: FormProps) {
  const { draft, id } = props;
  return (
    <Section id="profile" title="Profile">
      <div class="space-y-5">
        <TextField label="Name" required {...tie(props, "name")} />
        <TextField
          label="Greeting"
          rows={2}
          {...tie(props, "greeting")}
          placeholder={`Hi, I'm ${draft.name.trim() || "Ada"}. How can I help you?`}
          hint="Shown before the first message. Leave empty for a default greeting."
        />
        {id === undefined ? <PromptField {...props} /> : <StartersEditor {...props} />}
        {id !== undefined && (
          <p class="text-13 text-muted">
            Colour, avatar and launcher are under{" "}
            <a href={`/app/companions/${id}/appearance`} class="text-accent underline">
              Appearance
            </a>
            .
          </p>
        )}
      </div>
    </Section>
  );
}

/** In plain words, with the word that providers use. */
const efforts = [
  { value: "", label: "Server default" },
  { value: "none", label: "None (none)" },
  { value: "minimal", label: "Minimal (minimal)" },
  { value: "low", label: "Short (low)" },
  { value: "medium", label: "Medium (medium)" },
  { value: "high", label: "Long (high)" },
  { value: "xhigh", label: "Very long (xhigh)" },
  { value: "max", label: "As long as needed (max)" },
] as const;

function PromptField(props: SectionProps) {
  const { draft } = props;
  return (
    <>
      <TextField
        label="System prompt"
        rows={6}
        class="grows"
        {...tie(props, "system_prompt", countPrompt(draft.system_prompt))}
        placeholder="You help the customers of a bicycle shop. Be brief, and friendly. When you do not know something, say so."
        hint="Visitors never see it. Sent with every message, so longer prompts cost more."
      />
      {draft.visitor_auth !== "off" && <PlaceholderGuide />}
    </>
  );
}

export function BehaviourSection(props: FormProps) {
  const { draft, id } = props;
  const { server } = useSession();
  const models = server.models.includes(draft.model) || draft.model === "" ? [] : [draft.model];
  return (
    <Section id="behaviour" title="Behaviour">
      <div class="space-y-5">
        {id === undefined ? <StartersEditor {...props} /> : <PromptField {...props} />}
        <SelectField
          label="Model"
          {...tie(props, "model")}
          options={[
            { value: "", label: `Default (${server.default_model})` },
            ...models.map((model) => ({ value: model, label: `${model} (no longer offered)` })),
            ...server.models.map((model) => ({ value: model, label: model })),
          ]}
        />
        <details>
          <summary class="font-medium">Model settings</summary>
          <div class="mt-4 grid gap-5 sm:grid-cols-2">
            <TextField
              label="Temperature"
              type="number"
              min={0}
              max={2}
              step={0.1}
              {...tie(props, "temperature")}
              placeholder="Model default"
              hint="Lower is more consistent, higher is more varied. Models that think ignore it."
            />
            <SelectField
              label="Thinking before each reply"
              {...tie(props, "reasoning_effort")}
              options={efforts}
              hint="Longer is more careful, slower and more expensive. Models that don't think ignore it."
            />
            <TextField
              label="Maximum reply length (tokens)"
              type="number"
              min={1}
              max={server.max_output_tokens}
              {...tie(props, "max_output_tokens")}
              placeholder={String(server.max_output_tokens)}
            />
            <TextField
              label="Conversation memory (tokens)"
              type="number"
              min={1}
              {...tie(props, "context_tokens")}
              placeholder="8000"
              hint="The prompt, the message and the conversation so far, together."
            />
          </div>
        </details>
      </div>
    </Section>
  );
}

export function AccessSection(props: SectionProps) {
  const { draft } = props;
  const count = splitOrigins(draft.allowed_origins).length;
  const days = draft.retention_days;
  const keptFor = days === "" ? "conversations kept" : `conversations deleted after ${days} days`;
  return (
    <Fold
      id="websites"
      title="Websites and retention"
      summary={`${count > 0 ? splitOrigins(draft.allowed_origins).join(", ") : "Any website"} · ${keptFor}`}
    >
      <div class="space-y-5">
        <TextField
          label="Allowed websites"
          isCode
          rows={3}
          {...tie(props, "allowed_origins", count > 0 ? `${count} of 50` : "any website")}
          placeholder={"shop.example\n*.shop.example"}
          hint="One per line. Leave empty to allow any website."
        />
        <TextField
          label="Delete conversations after (days)"
          type="number"
          min={1}
          {...tie(props, "retention_days")}
          placeholder="Never"
          hint="Counted from the last message."
        />
      </div>
    </Fold>
  );
}

export function MetadataSection(props: SectionProps) {
  return (
    <Fold
      id="metadata"
      title="Metadata"
      summary={describeMetadata(props.draft.metadata)}
      hint="Your own data about this companion. You can filter lists and usage by any field."
    >
      <MetadataEditor {...props} />
    </Fold>
  );
}

function countPrompt(text: string): string {
  return `≈ ${formatNumber(estimateTokens(text))} tokens · ${formatNumber([...text].length)} of ${formatNumber(maxPromptLength)}`;
}

/** Suggested first questions. */
function StartersEditor({ draft: { starters }, problems, change }: SectionProps) {
  const { list, focusRow } = useRowFocus();

  /** An empty field is filled before there is another one. */
  function add(): void {
    const empty = starters.findIndex((starter) => starter.trim() === "");
    if (empty === -1) change({ starters: [...starters, ""] });
    focusRow(empty === -1 ? starters.length : empty);
  }

  return (
    <fieldset>
      <legend class="mb-1.5 font-medium">Suggested questions</legend>
      <ul ref={list} class="space-y-2">
        {starters.map((starter, index) => (
          // By position: they have no other name, and move only by removal.
          <li key={index} class="flex gap-1.5">
            <input
              aria-label={`Question ${index + 1}`}
              dir="auto"
              class="control"
              value={starter}
              onInput={({ currentTarget: { value } }) => change({ starters: starters.with(index, value) })}
            />
            <IconButton
              label={`Remove question ${index + 1}`}
              icon={X}
              size={17}
              onClick={() => change({ starters: starters.toSpliced(index, 1) })}
            />
          </li>
        ))}
      </ul>
      <FieldError error={problems.starters} />
      {starters.length < maxStarters && (
        <Button icon={Plus} kind="ghost" class={starters.length > 0 ? "mt-2" : "-ml-2"} onClick={add}>
          Add a question
        </Button>
      )}
    </fieldset>
  );
}
