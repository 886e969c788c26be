/** `/app/start`: the first run, from a model that answers to a companion that is live. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { CompanionStep } from "../first-run/companion-step.tsx";
import { KnowledgeStep } from "../first-run/knowledge-step.tsx";
import { ModelStep } from "../first-run/model-step.tsx";
import { type Progress, type StepName, stepNames, stepTitles, useProgress } from "../first-run/progress.ts";
import { Step } from "../first-run/step.tsx";
import { WebsiteStep } from "../first-run/website-step.tsx";
import { homePath } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import { PageHead } from "../ui/page.tsx";
import { Notice, Pending } from "../ui/states.tsx";

export default function StartPage() {
  const { scopes } = useSession();
  const progress = useProgress();
  const { done, count } = progress;
  return (
    <div class="mx-auto max-w-3xl">
      <PageHead
        title={done.website ? "You're live" : "Get started"}
        back={{ href: homePath, label: "Companions" }}
        actions={
          <span class="text-13 text-muted tabular-nums">
            {count} of {stepNames.length} done
          </span>
        }
      >
        {done.website
          ? "Your companion answers on your website."
          : "Four short steps, and your companion answers on your website."}
      </PageHead>
      {!scopes.includes("companions:write") && (
        <Notice class="mb-4">You can't create companions in this account. Ask its owner.</Notice>
      )}
      {progress.isLoading ? <Pending of={progress} /> : <Steps progress={progress} />}
    </div>
  );
}

function Steps({ progress }: { progress: Progress }) {
  const { done, companion } = progress;
  const { server } = useSession();
  const [chosen, setChosen] = useState<StepName | null | undefined>(undefined);
  const [skipped, setSkipped] = useState(false);
  const isPast = (name: StepName) =>
    done[name] || (name === "knowledge" && skipped) || (name === "model" && server.is_demo_llm);
  // The last one stays open: it shows that it is live.
  const next = stepNames.find((name) => !isPast(name)) ?? "website";
  const open = chosen === undefined ? next : chosen;
  const asides: Record<StepName, string> = {
    model: server.is_demo_llm ? "Demo" : done.model ? server.default_model : "",
    companion: companion?.name ?? "",
    knowledge: done.knowledge ? "Added" : progress.isReading ? "Reading…" : "Optional",
    website: done.website ? "Live" : companion === null ? "" : "Listening…",
  };
  const goOn = () => setChosen(undefined);
  const missing = <p class="text-muted">Create your companion first.</p>;
  const bodies: Record<StepName, ComponentChildren> = {
    model: (
      <ModelStep
        onTested={() => {
          // It stays open, with the answer.
          setChosen("model");
          progress.noteModel();
        }}
        onContinue={goOn}
      />
    ),
    companion: (
      <CompanionStep
        companion={companion}
        onMade={async () => {
          await progress.reload();
          goOn();
        }}
      />
    ),
    knowledge:
      companion === null ? (
        missing
      ) : (
        <KnowledgeStep
          companionId={companion.id}
          onAdded={() => {
            setChosen("knowledge");
            void progress.reload();
          }}
          onContinue={() => {
            setSkipped(true);
            goOn();
          }}
        />
      ),
    website: companion === null ? missing : <WebsiteStep companion={companion} />,
  };
  return (
    <ol class="card">
      {stepNames.map((name, at) => (
        <Step
          key={name}
          number={at + 1}
          title={stepTitles[name]}
          isDone={done[name]}
          isOpen={open === name}
          aside={asides[name]}
          onToggle={() => setChosen(open === name ? null : name)}
        >
          {bodies[name]}
        </Step>
      ))}
    </ol>
  );
}
