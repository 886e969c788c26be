/** Tries a companion: one turn of which nothing is kept, with settings, tools and results that its caller chooses. */
import type { Companion } from "../../domain/companion.ts";
import type { HistoryMessage } from "../../domain/conversation.ts";
import { roundToMicros } from "../../domain/money.ts";
import type { AnsweredCall, Tool } from "../../domain/tool.ts";
import { addCalls, type CallTotals } from "../../domain/usage.ts";
import type { VisitorClaims } from "../../domain/visitor.ts";
import { instructFor } from "../../domain/visitor-prompt.ts";
import { answerFrom, type GivenResults } from "../tools/given-results.ts";
import { Turn, type TurnServices } from "./turn.ts";
import { noCaller, type TurnResult, type TurnStart, type UsedKnowledge } from "./turn-start.ts";
import { UnkeptTurns } from "./unkept-turns.ts";

type Asked = Pick<
  TurnStart,
  "plan" | "keyId" | "message" | "form" | "makeFence" | "requestId" | "right" | "noteFailure" | "isOutsideDay"
>;

export interface TrialStart extends Asked {
  /** With the settings to try, which may be others than those that it has. */
  readonly companion: Companion;
  /** Those to try; left out: those that it has. */
  readonly tools?: readonly Tool[];
  /** Newest first. */
  readonly history: readonly HistoryMessage[];
  /** Null: not known. */
  readonly visitor: VisitorClaims | null;
  /** No tool is called then; null: tools are called. */
  readonly toolResults: GivenResults | null;
  /** Called once what it cost is stored, before the readers learn of the end; also for a turn that failed. */
  noteStored(trace: TrialTrace): void;
}

/** What a trial's caller may see of it. */
export interface TrialTrace {
  readonly result: TurnResult;
  /** Of all the model's calls: tokens, and what they cost. */
  readonly totals: CallTotals;
  /** Null for a model without a price. */
  readonly costMicros: number | null;
  /** In order, with what the model got for them. */
  readonly toolCalls: readonly AnsweredCall[];
  readonly sources: ReturnType<UsedKnowledge["listGiven"]>;
  /** Whether the reply is that nothing was found. */
  readonly isNothingFound: boolean;
}

export function openTrial(services: TurnServices, start: TrialStart): Turn {
  const { history, visitor, toolResults, tools, noteStored, ...asked } = start;
  const { toolbox } = services;
  const own = tools === undefined ? toolbox : { ...toolbox, open: openThese };
  const opened = toolResults === null ? own : answerFrom(toolResults, own);
  const toolCount = tools?.length ?? start.companion.toolCount;
  const companion = instructFor({ ...start.companion, toolCount }, visitor);
  const note = (result: TurnResult) => noteStored(toTrace(result));

  function openThese(...[of, caller, requestId]: Parameters<typeof toolbox.open>) {
    return toolbox.open(of, caller, requestId, tools);
  }

  return new Turn(
    { ...services, toolbox: opened },
    {
      ...asked,
      companion,
      storage: new UnkeptTurns(services.store, companion, history, note, asked.isOutsideDay),
      ...{ address: null, named: null, visitor: null, caller: { ...noCaller, visitor } },
    },
  );
}

function toTrace(result: TurnResult): TrialTrace {
  const { earlier, usage, cost, request, knowledge } = result;
  const totals = addCalls(earlier, { usage, cost });
  return {
    result,
    totals,
    costMicros: totals.cost && roundToMicros(totals.cost),
    toolCalls: (request.rounds ?? []).flatMap(({ calls }) => calls),
    sources: knowledge?.listGiven() ?? [],
    isNothingFound: knowledge?.isNothingFound ?? false,
  };
}
