/** The form of a companion beside its index, and the bar that saves it. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { useLeaveGuard } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import { Form } from "../ui/field.tsx";
import { Problem } from "../ui/states.tsx";
import { KnowledgeSection, LimitsSection } from "./answers-sections.tsx";
import { type Draft, type DraftField, findProblems, type Problems } from "./draft.ts";
import { Fold } from "./fold.tsx";
import { PeopleSection } from "./people-section.tsx";
import { SaveBar, type Target } from "./save-bar.tsx";
import { SectionIndex } from "./section-index.tsx";
import { AccessSection, BehaviourSection, IdentitySection, MetadataSection } from "./sections.tsx";
import { ChallengeSection, VisitorsSection } from "./visitors-sections.tsx";
import { VoiceSection } from "./voice-section.tsx";

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
  /** Counts what the form began with: with another one, what is typed is gone. */
  round?: number;
  target: Target;
  /** Fields that files set. */
  managed?: readonly string[];
  /** Rejects with the server's error. */
  onSave(draft: Draft, saved: Saved): Promise<void>;
  children?: ComponentChildren;
}

export function Editor({ id, kept, round = 0, target, managed, onSave, children }: EditorProps) {
  const { server } = useSession();
  const [draft, setDraft] = useState(kept);
  const [discarded, setDiscarded] = useState<Draft | null>(null);
  const [isSubmitted, setIsSubmitted] = useState(false);
  const [note, setNote] = useState("");
  const form = useRef<HTMLDivElement>(null);
  const save = useAction(async (isDraft: boolean) => {
    await onSave(draft, { note, isDraft });
    setIsSubmitted(false);
  });
  // Not by another form: its open sections stay open.
  useLayoutEffect(() => {
    setDraft(kept);
    setDiscarded(null);
    setNote("");
    save.clear();
  }, [round]);
  const changes = countChanges(draft, kept);
  useLeaveGuard(changes > 0 && !save.isBusy);

  const own = useMemo(() => findProblems(draft, server.daily_messages), [draft, server]);
  const problems = { ...sentProblems(save.error), ...shownProblems(own, draft, kept, isSubmitted) };
  const change = (part: Partial<Draft>) => {
    setDraft((before) => ({ ...before, ...part }));
    setDiscarded(null);
  };
  const section = { draft, problems, change, managed: useMemo(() => new Set(managed), [managed]) };

  function showProblem(): void {
    const field = form.current?.querySelector<HTMLElement>("[aria-invalid=true]");
    for (let fold = field?.closest("details"); fold; fold = fold.parentElement?.closest("details")) fold.open = true;
    field?.focus();
  }

  useEffect(() => {
    if (save.error instanceof ApiError && save.error.fields.length > 0) showProblem();
  }, [save.error]);

  function submit(isDraft = target === "draft"): void {
    setIsSubmitted(true);
    if (Object.keys(own).length === 0) void save.run(isDraft);
    else requestAnimationFrame(showProblem);
  }

  const rest = (
    <>
      <BehaviourSection {...section} id={id} />
      <h2 class="pt-4 text-13 font-medium text-muted">Advanced</h2>
      <div class="card">
        <KnowledgeSection {...section} id={id} />
        <VoiceSection {...section} />
        <AccessSection {...section} />
        <VisitorsSection {...section} />
        <PeopleSection {...section} />
        <LimitsSection {...section} id={id} round={round} />
        <ChallengeSection {...section} />
        <MetadataSection {...section} />
      </div>
    </>
  );

  return (
    <div ref={form} class={id === undefined ? "" : "grid items-start gap-8 lg:grid-cols-[200px_minmax(0,1fr)]"}>
      {id !== undefined && <SectionIndex />}
      <div class="min-w-0">
        <Form noValidate class="space-y-4" onSubmit={() => submit()}>
          <IdentitySection {...section} id={id} />
          {id === undefined ? (
            <div class="card">
              <Fold id="more" title="More settings" summary="Suggested questions, model, knowledge, voice, limits">
                <div class="space-y-4">{rest}</div>
              </Fold>
            </div>
          ) : (
            rest
          )}
          <Problem error={save.error} />
          {(target === "new" || changes > 0 || discarded !== null) && (
            <SaveBar
              target={target}
              changes={changes}
              isBusy={save.isBusy}
              note={note}
              onNote={setNote}
              onDiscard={() => {
                setDraft(kept);
                setDiscarded(draft);
                save.clear();
              }}
              onUndo={
                discarded &&
                (() => {
                  setDraft(discarded);
                  setDiscarded(null);
                })
              }
              onForget={() => setDiscarded(null)}
              onSaveAsDraft={() => submit(true)}
            />
          )}
        </Form>
        {children}
      </div>
    </div>
  );
}

/** In fields as people count them: a voice is one. */
function countChanges(draft: Draft, kept: Draft): number {
  const isChanged = (field: DraftField) => JSON.stringify(draft[field]) !== JSON.stringify(kept[field]);
  const changed = (Object.keys(draft) as DraftField[]).filter(isChanged);
  return new Set(changed.map((field) => (field === "voice_value" ? "voice" : field))).size;
}

/** Missing fields are reported on saving; wrong ones, while they are typed. */
function shownProblems(problems: Problems, draft: Draft, kept: Draft, isSubmitted: boolean): Problems {
  if (isSubmitted) return problems;
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
