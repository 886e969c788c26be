/** The parts of a companion's form. */
import { Plus, X } from "lucide-preact";
import { estimateTokens, formatNumber } from "../lib/format.ts";
import { useSession } from "../lib/session.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { SelectField, TextField } from "../ui/field.tsx";
import { useRowFocus } from "../ui/focus.ts";
import { Section } from "../ui/page.tsx";
import { Notice } from "../ui/states.tsx";
import { ColorField } from "./color-field.tsx";
import { maxStarters, type SectionProps, shownColor, splitLines, tie } from "./draft.ts";
import { MetadataEditor } from "./metadata-editor.tsx";
import { PlaceholderGuide } from "./visitors-sections.tsx";

export function IdentitySection(props: SectionProps) {
  const { draft } = props;
  return (
    <Section title="Who it is">
      <div class="space-y-5">
        <TextField label="Name" required {...tie(props, "name")} />
        <TextField
          label="Greeting"
          rows={2}
          {...tie(props, "greeting")}
          placeholder={`Hi, I'm ${draft.name.trim() || "Ada"}. How can I help you?`}
          hint="What visitors read first. If empty, it is made from the name."
        />
        <StartersEditor {...props} />
        <div class="grid gap-5 sm:grid-cols-2">
          <ColorField {...tie(props, "theme_color")} shown={shownColor(draft)} />
          <TextField
            label="Avatar address"
            type="url"
            isCode
            {...tie(props, "avatar_url")}
            placeholder="https://"
            hint="An image. If empty, the initial on the theme colour."
          />
        </div>
      </div>
    </Section>
  );
}

/** As a person would say it, with the word that providers use for it. */
const efforts = [
  { value: "", label: "As this server is set" },
  { value: "none", label: "Not at all (none)" },
  { value: "minimal", label: "Hardly (minimal)" },
  { value: "low", label: "Briefly (low)" },
  { value: "medium", label: "For a while (medium)" },
  { value: "high", label: "Thoroughly (high)" },
  { value: "xhigh", label: "Very thoroughly (xhigh)" },
  { value: "max", label: "As long as it can (max)" },
] as const;

export function BehaviourSection(props: SectionProps) {
  const { draft } = props;
  const { server } = useSession();
  const models = server.models.includes(draft.model) || draft.model === "" ? [] : [draft.model];
  return (
    <Section title="How it answers" hint="Visitors never see the prompt.">
      <div class="space-y-5">
        <TextField
          label="System prompt"
          rows={12}
          {...tie(props, "system_prompt", `≈ ${formatNumber(estimateTokens(draft.system_prompt))} tokens`)}
          placeholder="You help the customers of a bicycle shop. Be brief, and friendly. When you do not know something, say so."
          hint="Sent to the language model with every message, so its tokens count every time."
        />
        {draft.visitor_auth !== "off" && <PlaceholderGuide />}
        <div class="grid gap-5 sm:grid-cols-2">
          <SelectField
            label="Model"
            {...tie(props, "model")}
            options={[
              { value: "", label: `Default (${server.default_model})` },
              ...models.map((model) => ({ value: model, label: `${model} (no longer offered)` })),
              ...server.models.map((model) => ({ value: model, label: model })),
            ]}
          />
          <TextField
            label="Temperature"
            type="number"
            min={0}
            max={2}
            step={0.1}
            {...tie(props, "temperature")}
            placeholder="the model's own"
            hint="How freely it varies its words: 0 is steady, 2 is wild. It has no effect on models that think."
          />
          <SelectField
            label="How long it thinks before it answers"
            {...tie(props, "reasoning_effort")}
            options={efforts}
            hint="Longer is more careful, slower and dearer. Models that do not think ignore it."
          />
          <TextField
            label="Longest reply, in tokens"
            type="number"
            min={1}
            max={server.max_output_tokens}
            {...tie(props, "max_output_tokens")}
            placeholder={String(server.max_output_tokens)}
          />
          <TextField
            label="Memory, in tokens"
            type="number"
            min={1}
            {...tie(props, "context_tokens")}
            placeholder="8000"
            hint="For instructions, message and earlier conversation together."
          />
        </div>
      </div>
    </Section>
  );
}

const voices = [
  { value: "none", label: "Text only" },
  { value: "voice_id", label: "A voice, agent kept by this server" },
  { value: "voice_agent_id", label: "An agent that is at the provider already" },
] as const;

export function VoiceSection(props: SectionProps) {
  const { draft } = props;
  const { server } = useSession();
  return (
    <Section title="Voice" hint="Visitors can speak with it as well.">
      <div class="grid gap-5 sm:grid-cols-2">
        <SelectField label="Voice sessions" options={voices} {...tie(props, "voice")} />
        {draft.voice !== "none" && (
          <TextField
            label={draft.voice === "voice_id" ? "Voice id" : "Agent id"}
            isCode
            {...tie(props, "voice_value")}
            hint={
              draft.voice === "voice_id"
                ? "It follows name, prompt and greeting by itself."
                : "Used as it is: its own settings apply. The operator of this server grants agents to accounts."
            }
          />
        )}
      </div>
      {!server.has_voice_provider && draft.voice !== "none" && (
        <Notice class="mt-4">
          This server has no key of a voice provider: visitors see no microphone until its operator sets one.
        </Notice>
      )}
    </Section>
  );
}

export function AccessSection(props: SectionProps) {
  const { draft } = props;
  const count = splitLines(draft.allowed_origins).length;
  return (
    <Section title="Where it may be used">
      <div class="space-y-5">
        <TextField
          label="Allowed origins"
          isCode
          rows={3}
          {...tie(props, "allowed_origins", count > 0 ? `${count} of 50` : "any website")}
          placeholder={"https://shop.example\nhttps://*.shop.example"}
          hint="One per line. If empty, any website may embed it."
        />
        <TextField
          label="Keep conversations for, in days"
          type="number"
          min={1}
          {...tie(props, "retention_days")}
          placeholder="for ever"
          hint="Conversations that nobody has continued for this long are deleted."
        />
      </div>
    </Section>
  );
}

export function MetadataSection(props: SectionProps) {
  return (
    <Section title="Metadata" hint="Your own data about it. Lists and usage can be filtered by any field.">
      <MetadataEditor {...props} />
    </Section>
  );
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
          // By place: they have no other name, and move only by removal.
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
              onClick={() => change({ starters: starters.toSpliced(index, 1) })}
            >
              <X size={17} aria-hidden="true" />
            </IconButton>
          </li>
        ))}
      </ul>
      {problems.starters && <p class="mt-1.5 text-13 text-bad">{problems.starters}</p>}
      {starters.length < maxStarters && (
        <Button icon={Plus} kind="ghost" class={starters.length > 0 ? "mt-2" : "-ml-2"} onClick={add}>
          Add a question
        </Button>
      )}
    </fieldset>
  );
}
