/** The first run on the page of companions, until one is live: what is done, and where to go on. */
import { ArrowRight, X } from "lucide-preact";
import { startPath } from "../lib/router.ts";
import { ButtonLink, IconButton } from "../ui/button.tsx";
import { Skeleton } from "../ui/states.tsx";
import { stepNames, stepTitles, useProgress } from "./progress.ts";
import { Tick } from "./step.tsx";

interface CardProps {
  /** Left out where there is nothing else on the page. */
  onClose?: (() => void) | undefined;
}

export function FirstRunCard({ onClose }: CardProps) {
  const { companion, done, count, isLoading } = useProgress();
  if (isLoading) return <Skeleton lines={2} class="mb-6" />;
  return (
    <section class="card mb-6 p-4 sm:p-6" aria-label="Get started">
      <div class="flex items-start gap-3">
        <div class="min-w-0 flex-1">
          <h2 class="text-16 font-semibold">Get your first companion live</h2>
          <p class="mt-1 text-pretty text-muted">
            {companion === null
              ? "No companions yet. Four short steps, and it answers on your website."
              : `${count} of ${stepNames.length} steps done.`}
          </p>
        </div>
        {onClose && <IconButton label="Hide these steps" icon={X} onClick={onClose} />}
      </div>
      <ol class="mt-4 flex flex-wrap gap-x-8 gap-y-3">
        {stepNames.map((name, at) => (
          <li key={name} class={`flex flex-1 basis-48 items-center gap-3 ${done[name] ? "text-muted" : "font-medium"}`}>
            <Tick isDone={done[name]} number={at + 1} />
            {stepTitles[name]}
          </li>
        ))}
      </ol>
      <ButtonLink kind="primary" href={startPath} class="mt-6">
        {count === 0 || companion === null ? "Get started" : "Continue"}
        <ArrowRight size={16} aria-hidden="true" />
      </ButtonLink>
    </section>
  );
}
