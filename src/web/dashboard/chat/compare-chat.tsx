/** One message to a companion's draft and to what is live, or to any two of its versions: their replies side by side. */
import { RotateCcw } from "lucide-preact";
import { useState } from "preact/hooks";
import { useLoad } from "../lib/load.ts";
import type { Companion, CompanionDraft, CompanionVersion, Page } from "../lib/types.ts";
import { IconButton } from "../ui/button.tsx";
import { SelectField } from "../ui/field.tsx";
import { Pending, Problem } from "../ui/states.tsx";
import { Bubble } from "./bubble.tsx";
import { Composer } from "./composer.tsx";
import { useFollowEnd } from "./follow-end.ts";
import { TraceDetails } from "./trace-details.tsx";
import { type Answerer, type Round, useComparison } from "./use-comparison.ts";

/** Of the versions, the newest. */
const maxListed = 50;

interface Option {
  value: string;
  label: string;
}

function toAnswerer(side: string): Answerer {
  if (side === "live") return {};
  return side === "draft" ? { draft: true } : { version: Number(side) };
}

export function CompareChat({ companion }: { companion: Companion }) {
  // Without one it is 404.
  const unpublished = useLoad<CompanionDraft>(`/api/companions/${companion.id}/draft`);
  const versions = useLoad<Page<CompanionVersion>>(`/api/companions/${companion.id}/versions?limit=${maxListed}`);
  const isKnown = unpublished.data !== null || unpublished.error !== null;
  if (versions.data === null || !isKnown) return <Pending of={versions} lines={6} />;
  const numbers = versions.data.data.map(({ number }) => String(number));
  const options: Option[] = [
    { value: "live", label: "Live" },
    ...(unpublished.data ? [{ value: "draft", label: "Draft" }] : []),
    ...numbers.map((number) => ({ value: number, label: `Version ${number}` })),
  ];
  const other = unpublished.data ? "draft" : (numbers[1] ?? "live");
  return <Comparison companion={companion} options={options} other={other} />;
}

function Comparison({ companion, options, other }: { companion: Companion; options: Option[]; other: string }) {
  const [sides, setSides] = useState<[string, string]>(["live", other]);
  const [text, setText] = useState("");
  const comparison = useComparison(companion.id, [toAnswerer(sides[0]), toAnswerer(sides[1])]);
  const { rounds, isRunning } = comparison;
  const { log, content, goToEnd, onScroll } = useFollowEnd();
  const labels = sides.map((side) => options.find(({ value }) => value === side)?.label ?? side) as [string, string];

  function choose(at: 0 | 1, side: string): void {
    comparison.startOver();
    setSides(at === 0 ? [side, sides[1]] : [sides[0], side]);
  }

  function ask(message: string): void {
    if (isRunning || message.trim() === "") return;
    setText("");
    goToEnd();
    comparison.ask(message);
  }

  return (
    <div class="card fills-window flex flex-col">
      <div class="flex items-end gap-2 border-b border-line px-4 py-2.5">
        {([0, 1] as const).map((at) => (
          <SelectField
            key={at}
            label={at === 0 ? "Left" : "Right"}
            class="flex-1"
            value={sides[at]}
            options={options}
            onValue={(side) => choose(at, side)}
          />
        ))}
        <IconButton label="Start over" onClick={comparison.startOver}>
          <RotateCcw size={16} aria-hidden="true" />
        </IconButton>
      </div>
      <div
        ref={log}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
        tabIndex={0}
        role="log"
        aria-label="Comparison"
        aria-busy={isRunning}
        class="relative min-h-0 flex-1 overflow-y-auto"
        onScroll={onScroll}
      >
        <div ref={content} class="space-y-6 p-4 sm:p-6">
          {rounds.length === 0 && (
            <p class="text-center text-pretty text-muted">
              Each message goes to both. Nothing is kept, but each reply counts in the companion's day and in your
              usage.
            </p>
          )}
          {rounds.map((round, at) => (
            <RoundRow key={at} round={round} labels={labels} name={companion.name} />
          ))}
        </div>
      </div>
      <Composer text={text} setText={setText} isRunning={isRunning} ask={ask} stop={comparison.stop} />
    </div>
  );
}

function RoundRow({ round, labels, name }: { round: Round; labels: [string, string]; name: string }) {
  return (
    <div class="space-y-4">
      <Bubble speaker="user" name="You" text={round.message} />
      <div class="grid gap-4 sm:grid-cols-2">
        {round.replies.map(({ text, state, trace, problem }, at) => (
          <section key={at} aria-label={labels[at]} class="min-w-0">
            <h2 class="mb-1.5 px-1 text-13 font-medium text-muted">{labels[at]}</h2>
            {(text !== "" || state === "streaming") && (
              <Bubble speaker="assistant" name={name} text={text} isOpen={state === "streaming"}>
                {state === "stopped" && <span>You stopped the reply.</span>}
                {trace && <TraceDetails trace={trace} isVersionShown />}
              </Bubble>
            )}
            {state === "stopped" && text === "" && <p class="text-muted">You stopped it.</p>}
            {state === "cut" && <Problem class="mt-2">{problem ?? "The reply broke off."}</Problem>}
          </section>
        ))}
      </div>
    </div>
  );
}
