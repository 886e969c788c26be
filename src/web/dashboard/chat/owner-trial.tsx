/** A companion tried by its owner, who sees what was sent: one chat, or two versions that both get each message. */
import { useMemo, useRef, useState } from "preact/hooks";
import { toAppearanceDraft } from "../appearance/appearance-draft.ts";
import { toWidgetConfig } from "../appearance/widget-config.ts";
import { useLoad } from "../lib/load.ts";
import type { Companion, CompanionDraft, CompanionVersion, Page } from "../lib/types.ts";
import { SelectField } from "../ui/select.tsx";
import { Pending } from "../ui/states.tsx";
import type { PreviewElement } from "../widget-element.ts";
import { ChatStage, type Surroundings } from "./chat-stage.tsx";
import { Inspector, LastReply, Replies } from "./inspector.tsx";
import { type Answerer, answerTrials, type Reply } from "./trial.ts";

interface TrialProps {
  companion: Companion;
  surroundings: Surroundings;
}

/** Of the versions, the newest. */
const maxListed = 50;
/** Of the replies, the newest. */
const maxReplies = 50;
/** How often a message is offered to the other side, which may still be writing. */
const echoMs = 250;

function useTrial({ id }: Companion, answerer: Answerer) {
  const [replies, setReplies] = useState<readonly Reply[]>([]);
  const [fetch] = useState(() =>
    answerTrials(id, answerer, (reply) =>
      setReplies((before) => [...before.filter((other) => other.id !== reply.id), reply].slice(-maxReplies)),
    ),
  );
  return { replies, fetch };
}

function useConfig(companion: Companion) {
  return useMemo(() => toWidgetConfig(companion, toAppearanceDraft(companion), { hasVoice: false }), [companion]);
}

export function OwnerTrial({ companion, surroundings }: TrialProps) {
  const { replies, fetch } = useTrial(companion, {});
  return (
    <div class="chat-height fills-window grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(20rem,26rem)]">
      <div class="card flex min-h-0 flex-col overflow-hidden">
        <ChatStage
          label="Chat"
          token={`trial-${companion.id}`}
          config={useConfig(companion)}
          fetch={fetch}
          {...surroundings}
        />
        <LastReply replies={replies} label="Inspector" isBeside />
      </div>
      <Inspector>
        <Replies replies={replies} />
      </Inspector>
    </div>
  );
}

export function CompareTrial({ companion, surroundings }: TrialProps) {
  // Without one it is 404.
  const unpublished = useLoad<CompanionDraft>(`/api/companions/${companion.id}/draft`);
  const versions = useLoad<Page<CompanionVersion>>(`/api/companions/${companion.id}/versions?limit=${maxListed}`);
  const [chosen, setChosen] = useState<readonly [string, string | null]>(["live", null]);
  const elements = useRef<(PreviewElement | null)[]>([null, null]);
  /** What comes back as a message of the side that it was given to. */
  const echoes = useRef([new Set<string>(), new Set<string>()]);
  const isKnown = unpublished.data !== null || unpublished.error !== null;
  if (versions.data === null || !isKnown) return <Pending of={versions} lines={6} />;
  const numbers = versions.data.data.map(({ number }) => String(number));
  const options = [
    { value: "live", label: "Live" },
    ...(unpublished.data ? [{ value: "draft", label: "Draft" }] : []),
    ...numbers.map((number) => ({ value: number, label: `Version ${number}` })),
  ];
  const sides = [chosen[0], chosen[1] ?? (unpublished.data ? "draft" : (numbers[1] ?? "live"))] as const;

  function pass(from: 0 | 1, text: string): void {
    if (echoes.current[from]?.delete(text)) return;
    const to = 1 - from;
    const offer = () => {
      const element = elements.current[to];
      if (!element) return;
      // A chat that still writes takes no message.
      void element.send(text);
      setTimeout(() => echoes.current[to]?.has(text) && offer(), echoMs);
    };
    echoes.current[to]?.add(text);
    offer();
  }

  return (
    <div class="chat-height fills-window grid grid-cols-[minmax(0,1fr)] gap-4 md:grid-cols-2">
      {([0, 1] as const).map((at) => {
        const side = sides[at];
        return (
          <Side
            key={`${at} ${side}`}
            {...{ at, side, options, companion, surroundings }}
            onSide={(next) => setChosen(at === 0 ? [next, sides[1]] : [sides[0], next])}
            onElement={(element) => {
              elements.current[at] = element;
              echoes.current[at]?.clear();
            }}
            onMessage={(text) => pass(at, text)}
          />
        );
      })}
    </div>
  );
}

interface SideProps extends TrialProps {
  at: 0 | 1;
  side: string;
  options: { value: string; label: string }[];
  onSide(side: string): void;
  onElement(element: PreviewElement | null): void;
  onMessage(text: string): void;
}

function Side({ at, side, options, companion, surroundings, onSide, ...events }: SideProps) {
  const answerer: Answerer = side === "live" ? {} : side === "draft" ? { draft: true } : { version: Number(side) };
  const { replies, fetch } = useTrial(companion, answerer);
  const label = options.find(({ value }) => value === side)?.label ?? side;
  return (
    <section aria-label={label} class="card flex min-h-0 flex-col overflow-hidden max-md:min-h-[34rem]">
      <SelectField
        label={at === 0 ? "Left" : "Right"}
        class="border-b border-line px-4 py-2.5"
        value={side}
        options={options}
        onValue={onSide}
      />
      <ChatStage
        label={`Chat with ${label.toLowerCase()}`}
        token={`trial-${companion.id}-${at}`}
        config={useConfig(companion)}
        fetch={fetch}
        {...surroundings}
        {...events}
      />
      <LastReply replies={replies} label={label} />
    </section>
  );
}
