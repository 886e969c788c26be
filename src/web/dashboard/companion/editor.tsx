/** The form of a companion beside its preview, and the bar that saves it. */
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { ApiError, toSentence } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { useLeaveGuard } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import { Button } from "../ui/button.tsx";
import { AskDiscard } from "../ui/dialog.tsx";
import { Form } from "../ui/field.tsx";
import { Problem } from "../ui/states.tsx";
import { KnowledgeSection, LimitsSection } from "./answers-sections.tsx";
import { type Draft, type DraftField, findProblems, type Problems } from "./draft.ts";
import { Preview } from "./preview.tsx";
import { AccessSection, BehaviourSection, IdentitySection, MetadataSection, VoiceSection } from "./sections.tsx";
import { ChallengeSection, VisitorsSection } from "./visitors-sections.tsx";

interface EditorProps {
  /** The companion's; none for a new one. */
  id?: string;
  /** The companion as saved. */
  kept: Draft;
  isNew: boolean;
  /** Rejects with the server's error. */
  onSave(draft: Draft): Promise<void>;
  children?: ComponentChildren;
}

export function Editor({ id, kept, isNew, onSave, children }: EditorProps) {
  const { server } = useSession();
  const [draft, setDraft] = useState(kept);
  const [isTold, setIsTold] = useState(false);
  const [isAsked, setIsAsked] = useState(false);
  const save = useAction(async () => {
    await onSave(draft);
    setIsTold(false);
  });
  const isDirty = JSON.stringify(draft) !== JSON.stringify(kept);
  useLeaveGuard(isDirty && !save.isBusy);

  const own = useMemo(() => findProblems(draft, server.daily_messages), [draft, server]);
  const problems = { ...sentProblems(save.error), ...shownProblems(own, draft, kept, isTold) };
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const section = { draft, problems, change };

  function submit(): void {
    setIsTold(true);
    if (Object.keys(own).length === 0) void save.run();
    else requestAnimationFrame(() => document.querySelector<HTMLElement>("form [aria-invalid=true]")?.focus());
  }

  return (
    <div class="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22.5rem]">
      <div class="min-w-0">
        <Form noValidate class="space-y-6" onSubmit={submit}>
          <IdentitySection {...section} />
          <BehaviourSection {...section} />
          <KnowledgeSection {...section} id={id} />
          <VoiceSection {...section} />
          <AccessSection {...section} />
          <VisitorsSection {...section} />
          <LimitsSection {...section} id={id} />
          <ChallengeSection {...section} />
          <MetadataSection {...section} />
          {save.error !== null && <Problem>{toSentence(save.error)}</Problem>}
          {(isNew || isDirty) && (
            <div class="sticky bottom-3 z-10 flex animate-[rise_140ms_ease-out] flex-wrap items-center justify-end gap-2 rounded-2xl border border-line bg-card p-2.5 pl-4 shadow-[0_10px_32px_--alpha(var(--color-shade)/18%)]">
              <p class="min-w-0 flex-1 text-[0.94rem] text-muted">
                {isDirty ? "Not saved yet" : "Only the name is needed"}
              </p>
              {isDirty && !isNew && (
                <Button kind="ghost" onClick={() => setIsAsked(true)}>
                  Discard…
                </Button>
              )}
              <Button type="submit" kind="primary" isBusy={save.isBusy}>
                {isNew ? "Create companion" : "Save"}
              </Button>
            </div>
          )}
        </Form>
        {children}
        {isAsked && (
          <AskDiscard
            onDiscard={() => {
              setDraft(kept);
              save.clear();
            }}
            onClose={() => setIsAsked(false)}
          />
        )}
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
  const isTyped = ([field]: [string, string]) => {
    const name = field as DraftField;
    return draft[name] !== kept[name] && draft[name] !== "";
  };
  return Object.fromEntries(Object.entries(problems).filter(isTyped));
}

function sentProblems(error: unknown): Problems {
  if (!(error instanceof ApiError)) return {};
  const problems: Problems = {};
  for (const { param, detail } of error.fields) {
    const [field = ""] = param.split(/[.[]/);
    const name = (field === "voice_id" || field === "voice_agent_id" ? "voice_value" : field) as DraftField;
    problems[name] = detail;
  }
  return problems;
}
