/** The form of a companion beside its preview, and the bar that saves it. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, toSentence } from "../lib/api.ts";
import { avatarImage } from "../lib/color.ts";
import { useAction, useSettled } from "../lib/load.ts";
import { useLeaveGuard } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import { use } from "../lib/state.ts";
import { isDark, theme } from "../lib/theme.ts";
import { Form } from "../ui/field.tsx";
import { Problem } from "../ui/states.tsx";
import { KnowledgeSection, LimitsSection } from "./answers-sections.tsx";
import { type Draft, type DraftField, findProblems, type Problems, shownColor } from "./draft.ts";
import { PeopleSection } from "./people-section.tsx";
import { SaveBar, type Target } from "./save-bar.tsx";
import { AccessSection, BehaviourSection, IdentitySection, MetadataSection, VoiceSection } from "./sections.tsx";
import { ChallengeSection, VisitorsSection } from "./visitors-sections.tsx";

/** How a form is saved. */
export interface Saved {
  /** For the history. */
  note: string;
  /** Visitors meet nothing of it yet. */
  isDraft: boolean;
}

interface EditorProps {
  /** The companion's; none for a new one. */
  id?: string;
  /** The companion as saved. */
  kept: Draft;
  target: Target;
  /** Fields that files set. */
  managed?: readonly string[];
  /** Rejects with the server's error. */
  onSave(draft: Draft, saved: Saved): Promise<void>;
  children?: ComponentChildren;
}

export function Editor({ id, kept, target, managed, onSave, children }: EditorProps) {
  const { server } = useSession();
  const [draft, setDraft] = useState(kept);
  const [isTold, setIsTold] = useState(false);
  const [note, setNote] = useState("");
  const save = useAction(async (isDraft: boolean) => {
    await onSave(draft, { note, isDraft });
    setIsTold(false);
  });
  const isDirty = JSON.stringify(draft) !== JSON.stringify(kept);
  useLeaveGuard(isDirty && !save.isBusy);

  const own = useMemo(() => findProblems(draft, server.daily_messages), [draft, server]);
  const problems = { ...sentProblems(save.error), ...shownProblems(own, draft, kept, isTold) };
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const section = { draft, problems, change, managed: useMemo(() => new Set(managed), [managed]) };

  function submit(isDraft = target === "draft"): void {
    setIsTold(true);
    if (Object.keys(own).length === 0) void save.run(isDraft);
    else requestAnimationFrame(() => document.querySelector<HTMLElement>("form [aria-invalid=true]")?.focus());
  }

  return (
    <div class="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22.5rem]">
      <div class="min-w-0">
        <Form noValidate class="space-y-6" onSubmit={() => submit()}>
          <IdentitySection {...section} />
          <BehaviourSection {...section} />
          <KnowledgeSection {...section} id={id} />
          <VoiceSection {...section} />
          <AccessSection {...section} />
          <VisitorsSection {...section} />
          <PeopleSection {...section} />
          <LimitsSection {...section} id={id} />
          <ChallengeSection {...section} />
          <MetadataSection {...section} />
          {save.error !== null && <Problem>{toSentence(save.error)}</Problem>}
          {(target === "new" || isDirty) && (
            <SaveBar
              target={target}
              isDirty={isDirty}
              isBusy={save.isBusy}
              note={note}
              onNote={setNote}
              onDiscard={() => {
                setDraft(kept);
                save.clear();
              }}
              onSaveAsDraft={() => submit(true)}
            />
          )}
        </Form>
        {children}
      </div>
      <div class="min-w-0 lg:sticky lg:top-6">
        <Preview draft={draft} />
      </div>
    </div>
  );
}

/** Missing fields are reported on saving; wrong ones, while they are typed. */
function shownProblems(problems: Problems, draft: Draft, kept: Draft, isTold: boolean): Problems {
  if (isTold) return problems;
  const isTyped = ([field]: [string, string | undefined]) => {
    const name = field.split(".", 1)[0] as DraftField;
    return draft[name] !== kept[name] && draft[name] !== "";
  };
  return Object.fromEntries(Object.entries(problems).filter(isTyped));
}

function sentProblems(error: unknown): Problems {
  if (!(error instanceof ApiError)) return {};
  const problems: Problems = {};
  for (const { param, detail } of error.fields) {
    const [field = ""] = param.split(/[.[]/);
    const isPart = field === "handoff" || field === "leads";
    const part = isPart ? param.replace(/[.[]\d.*$/, "") : field;
    problems[(/^voice_(agent_)?id$/.test(field) ? "voice_value" : part) as DraftField] = detail;
  }
  return problems;
}

/** Nobody's token: nothing is sent with it. */
const token = "preview";
const configKey = `companion:${token}:config`;

let loading: Promise<unknown> | null = null;

function loadWidget(): Promise<unknown> {
  // The path is built at run time, so that the bundler does not include the file.
  loading ??= import(`${location.origin}/widget.js`);
  return loading;
}

/** The companion as visitors will see it, in the very widget, while it is still being edited. */
function Preview({ draft }: { draft: Draft }) {
  const { server } = useSession();
  const host = useRef<HTMLDivElement>(null);
  const name = draft.name.trim() || "Ada";
  const color = shownColor(draft);
  const config = JSON.stringify({
    name,
    avatar_url: /^https?:\/\/\S+$/.test(draft.avatar_url) ? draft.avatar_url : avatarImage(name, color),
    greeting: draft.greeting.trim() || `Hi, I'm ${name}. How can I help you?`,
    theme_color: color,
    has_voice: draft.voice !== "none" && server.has_voice_provider,
    has_text_agent: true,
    voice_provider: "none",
    starters: draft.starters.filter((starter) => starter.trim() !== ""),
  });
  const settled = useSettled(config, 120);
  const shade = use(theme);

  useEffect(() => {
    let isWanted = true;
    loadWidget().then(
      () => {
        if (!isWanted || !host.current) return;
        const element = document.createElement("companion-chat");
        element.setAttribute("mode", "inline");
        element.setAttribute("token", token);
        element.setAttribute("base-url", location.origin);
        element.setAttribute("theme", shade === "system" ? "" : isDark() ? "dark" : "light");
        element.style.setProperty("--companion-height", "34rem");
        // The widget looks there for a stored configuration as soon as it is on the page: it finds the draft, and makes
        // no request.
        const kept = { at: Date.now(), from: location.origin, config: JSON.parse(settled) };
        localStorage.setItem(configKey, JSON.stringify(kept));
        host.current.replaceChildren(element);
        localStorage.removeItem(configKey);
      },
      () => {
        loading = null;
      },
    );
    return () => {
      isWanted = false;
    };
  }, [settled, shade]);

  return (
    <section aria-label="Preview">
      <h2 class="mb-2 text-13 font-medium text-muted">Preview</h2>
      {/* To be looked at: the playground is there to talk to it. */}
      <div ref={host} inert class="min-h-[34rem] overflow-hidden rounded-[18px]" />
    </section>
  );
}
