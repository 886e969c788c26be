/** The controls of a companion's appearance beside a page that shows it, and the bar that saves. */
import { useMemo, useState } from "preact/hooks";
import { useAction } from "../lib/load.ts";
import { useLeaveGuard } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import type { Companion } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Form, TextField } from "../ui/field.tsx";
import { Section } from "../ui/page.tsx";
import { Segments } from "../ui/segments.tsx";
import { Problem } from "../ui/states.tsx";
import { type AppearanceDraft, findAppearanceProblems, maxTeaser, toAppearanceDraft } from "./appearance-draft.ts";
import { AvatarField } from "./avatar-field.tsx";
import { ColorField } from "./color-field.tsx";
import { GreetingsField } from "./greetings-field.tsx";
import { Stage } from "./stage.tsx";
import { toWidgetConfig } from "./widget-config.ts";

interface EditorProps {
  companion: Companion;
  /** Rejects with the server's error. */
  onSave(draft: AppearanceDraft): Promise<void>;
  onUploaded(companion: Companion): void;
}

export function AppearanceEditor({ companion, onSave, onUploaded }: EditorProps) {
  const { server } = useSession();
  const kept = useMemo(() => toAppearanceDraft(companion), [companion]);
  const [draft, setDraft] = useState(kept);
  const [isTried, setIsTried] = useState(false);
  const save = useAction(async () => {
    await onSave(draft);
    setIsTried(false);
  });
  const isDirty = JSON.stringify(draft) !== JSON.stringify(kept);
  useLeaveGuard(isDirty && !save.isBusy);
  const found = findAppearanceProblems(draft);
  // A language without its greeting is most often still being typed.
  const problems = isTried ? found : { ...found, greetings: undefined };
  const change = (part: Partial<AppearanceDraft>) => setDraft((before) => ({ ...before, ...part }));

  const config = toWidgetConfig(companion, draft, {
    hasVoice: server.has_voice_provider && (companion.voice_id ?? companion.voice_agent_id) !== null,
  });
  return (
    <div class="grid items-start gap-6 lg:grid-cols-[22.5rem_minmax(0,1fr)]">
      <Form
        noValidate
        class="min-w-0 space-y-4"
        onSubmit={() => {
          setIsTried(true);
          if (Object.keys(found).length === 0) void save.run();
          else requestAnimationFrame(() => document.querySelector<HTMLElement>("form [aria-invalid=true]")?.focus());
        }}
      >
        <Section title="Brand">
          <div class="space-y-5">
            <ColorField
              value={draft.theme_color}
              shown={config.theme_color}
              error={problems.theme_color}
              onValue={(theme_color) => change({ theme_color })}
            />
            <AvatarField
              companion={companion}
              shown={config.avatar_url}
              address={draft.avatar_url}
              addressProblem={problems.avatar_url}
              onAddress={(avatar_url) => change({ avatar_url })}
              onUploaded={onUploaded}
            />
          </div>
        </Section>
        <Section title="Chat window">
          <div class="space-y-5">
            <Choice
              title="Header"
              value={draft.header}
              onValue={(header) => change({ header })}
              options={{ plain: "Plain", tinted: "Tinted" }}
            />
            <Choice
              title="Theme"
              value={draft.theme}
              onValue={(theme) => change({ theme })}
              options={{ "": "Automatic", light: "Light", dark: "Dark" }}
              hint={draft.theme === "" ? "Follows each visitor's device." : undefined}
            />
            <label class="block">
              <span class="mb-1.5 flex items-baseline justify-between font-medium">
                Corner radius <span class="text-13 font-normal text-muted tabular-nums">{draft.radius} px</span>
              </span>
              <input
                type="range"
                min={0}
                max={24}
                value={draft.radius}
                onInput={({ currentTarget: { value } }) => change({ radius: Number(value) })}
                class="w-full accent-accent"
              />
            </label>
          </div>
        </Section>
        <Section title="Launcher">
          <div class="space-y-5">
            <Choice
              title="Icon"
              value={draft.icon}
              onValue={(icon) => change({ icon })}
              options={{ chat: "Chat", avatar: "Avatar" }}
            />
            <Choice
              title="Side"
              value={draft.position}
              onValue={(position) => change({ position })}
              options={{ "": "Automatic", right: "Right", left: "Left" }}
              hint={draft.position === "" ? "Right, or left on pages in right-to-left languages." : undefined}
            />
            <TextField
              label="Teaser"
              hint="A line beside the closed launcher. Leave empty for none."
              value={draft.teaser}
              error={problems.teaser}
              maxLength={maxTeaser}
              placeholder="Questions about sizes? Ask me!"
              onValue={(teaser) => change({ teaser })}
            />
            {draft.teaser !== "" && (
              <TextField
                label="Show it after (seconds)"
                type="number"
                min={0}
                max={600}
                value={draft.teaserSeconds}
                error={problems.teaserSeconds}
                onValue={(teaserSeconds) => change({ teaserSeconds })}
              />
            )}
          </div>
        </Section>
        <Section title="Languages">
          <GreetingsField
            greetings={draft.greetings}
            error={problems.greetings}
            onGreetings={(greetings) => change({ greetings })}
          />
        </Section>
        <Problem error={save.error} />
        {isDirty && (
          <div class="card sticky bottom-3 z-10 flex items-center justify-end gap-2 p-2.5 pl-4 floating">
            <p class="flex-1 text-muted">Not saved yet</p>
            <Button kind="ghost" onClick={() => setDraft(kept)}>
              Discard
            </Button>
            <Button type="submit" kind="primary" isBusy={save.isBusy}>
              Save
            </Button>
          </div>
        )}
      </Form>
      <div class="min-w-0 max-lg:order-first lg:sticky lg:top-6">
        <Stage
          token={`preview-${companion.id}`}
          config={config}
          question={companion.starters[0] ?? "How long does shipping take?"}
        />
      </div>
    </div>
  );
}

interface ChoiceProps<Value extends string> {
  title: string;
  value: Value;
  onValue(value: Value): void;
  options: Readonly<Record<Value, string>>;
  hint?: string | undefined;
}

function Choice<Value extends string>({ title, hint, ...segments }: ChoiceProps<Value>) {
  return (
    <div>
      <p class="mb-1.5 font-medium">{title}</p>
      <Segments label={title} {...segments} />
      {hint && <p class="mt-1.5 text-13 text-muted">{hint}</p>}
    </div>
  );
}
