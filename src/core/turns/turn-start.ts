/** A turn's input: its companion and message, the right to run it, and where it is stored. */
import type { TurnEntry } from "../../contracts/coordination.ts";
import type { ReplyForm, ReplyOutcome, ReplyRequest, ReplySink } from "../../contracts/llm/provider.ts";
import type { CallEnd, CountedTurn, ReachedBudget, SeenPassage } from "../../contracts/store/store.ts";
import type { Plan } from "../../domain/account.ts";
import type { SpendingState } from "../../domain/budget.ts";
import type { Companion } from "../../domain/companion.ts";
import type { HistoryMessage, MessagePart } from "../../domain/conversation.ts";
import { AppError } from "../../domain/errors.ts";
import type { CitedSource, NumberedPassage } from "../../domain/knowledge.ts";
import type { FailureKind } from "../../domain/reply-failure.ts";
import type { StreamErrorCode } from "../../domain/stream-end.ts";
import type { ToolCall } from "../../domain/tool.ts";
import type { Answerer, CallTotals } from "../../domain/usage.ts";
import type { VisitorClaims } from "../../domain/visitor.ts";
import type { StopSignal } from "../../lib/stop-signal.ts";
import type { KeptForPerson } from "../people/people.ts";
import type { NamedEvent } from "./events.ts";

export interface TurnStart {
  companion: Companion;
  /** The plan of the companion's account. */
  plan: Plan;
  /** The key that usage counts it under: the caller's, or the one that made the companion; null for the dashboard. */
  keyId: string | null;
  message: string;
  /** Whether it is none of the day's messages, though it costs what it costs. */
  readonly isOutsideDay?: boolean;
  /** For whom tools are called; left out: there are none. */
  readonly caller?: TurnCaller;
  /** What the visitor has decided on, instead of a message; `message` is empty then. Left out for messages. */
  readonly decision?: { readonly callId: string; readonly isApproved: boolean };
  /** What the model is asked instead of the conversation and `message`; left out for a turn of a conversation. */
  readonly given?: GivenPrompt;
  /** As in `ReplyRequest`. */
  readonly form?: ReplyForm;
  /** Makes the mark that fences passages, which nothing in them may contain; left out: one of chance. */
  readonly makeFence?: (passages: readonly NumberedPassage[]) => string;
  requestId: string;
  /** What the limit of running turns counts by; null means no limit. */
  address: string | null;
  right: TurnRight;
  storage: TurnStorage;
  /** Null unless the client gave the message a name. */
  readonly named: NamedStart | null;
  /** As in `TurnEntry`. */
  readonly visitor: TurnEntry["visitor"];
  /**
   * Spends the visitor's proof of work. Called once, before the provider is, when nothing else can refuse the turn any
   * more; what it rejects with refuses the turn. Left out or null: none was asked for.
   */
  readonly spendWork?: (() => Promise<void>) | null;
  /** Called with why the provider failed before its first text, for callers who may know. */
  readonly noteFailure?: (kind: FailureKind) => void;
}

/** On whose behalf a turn's tools are called. */
export interface TurnCaller {
  /** The client's; null where there is no conversation. */
  readonly sessionId: string | null;
  /** Null unless verified. */
  readonly visitor: VisitorClaims | null;
  /** Whether the client reads named events: only then it can be asked to confirm a call. */
  readonly hasEvents: boolean;
}

/** Where no one is known, and nothing is kept. */
export const noCaller: TurnCaller = { sessionId: null, visitor: null, hasEvents: false };

/** What a caller who keeps the conversation itself wants of the model, within the companion's bounds. */
export interface GivenPrompt {
  /** Appended to the companion's own instructions, in this order. */
  readonly instructions: readonly string[];
  /** Oldest first; all are sent, however long. */
  readonly messages: readonly HistoryMessage[];
  /** Null: the companion's. */
  readonly temperature: number | null;
  /** Null: the companion's. It never raises that one. */
  readonly maxOutputTokens: number | null;
  /** Texts before which the model stops. */
  readonly stop: readonly string[];
}

export interface NamedStart {
  /** Lower case. */
  readonly messageId: string;
  /** How often it ran again without a reply, as it is stored; null if it is new. */
  readonly repeats: number | null;
  /** Holds the reply for clients that come back. */
  readonly text: TurnText;
}

/** The text of a turn's reply so far, within bounds. Disposed of once the turn no longer needs it. */
export interface TurnText extends Disposable {
  /** Null if all of it fits; otherwise the part that did, after which nothing more fits. */
  add(deltas: readonly string[]): string | null;
  /** Takes memory for the text and what its readers hold, in UTF-16 code units; false if none is left. */
  hold(readersUnits: number): boolean;
  /** Well-formed. */
  toString(): string;
}

/** The right to run a turn: usually an embed token, which can be revoked meanwhile. */
export interface TurnRight {
  /** What the companion's account may spend; null if it opens the companion no longer. `isCalling`: a provider is to be asked. */
  check(isCalling?: boolean): Promise<SpendingState | null>;
  /** The error for a request without this right. */
  refusal(): AppError;
}

/**
 * The message was settled, or begun at another instance, between its lookup and its turn; nothing is held. Look it up
 * again: a caller that cannot should try in a second.
 */
export class RunsElsewhere extends AppError {
  constructor() {
    super("unavailable", "The reply to this message runs at another server. Try again shortly.", {
      retryAfterSeconds: 1,
    });
  }
}

/** The message was kept for people instead: a repeat of it finds it stored. */
export class KeptForPeople extends RunsElsewhere {
  constructor(readonly kept: KeptForPerson) {
    super();
  }
}

/** Loads what was said before a turn, and stores the turn in one commit at its end. */
export interface TurnStorage {
  /** Turns with the same key run one at a time, in the order of arrival; null: the turn does not queue. */
  readonly queueKey: string | null;
  /**
   * Called once, when the turn may run. Resolves with earlier messages, newest first: all of them, or as many as it
   * takes to exceed `maxBytes` of UTF-8. Rejects with `RunsElsewhere` if the turn must not run.
   */
  begin(maxBytes: number): Promise<readonly HistoryMessage[]>;
  /**
   * Called once, unless the turn is refused before a provider answers or fails. Resolves once durable, with the budgets
   * whose limit the turn was the first to reach.
   */
  settle(result: TurnResult): Promise<readonly ReachedBudget[]>;
  /** Keeps the calls of tools, so that none is sent twice. Left out where nothing is kept. */
  readonly calls?: CallStorage;
  /** Notes what a stored turn found in knowledge. Left out where no one asks for it later. */
  noteKnowledge?(found: FoundKnowledge): Promise<void>;
  /** People who may step in. Left out where no one can. */
  readonly people?: TurnPeople;
}

/** What a turn has to do with people who may step into its conversation: none begins where they have it. */
export interface TurnPeople {
  /** Whether the model is offered to ask for one. */
  readonly mayModelAsk: boolean;
  /** Whether the turn has done something that is not undone, so that there is a reply even without a word. */
  readonly hasCalls: boolean;
  /** Call it with the ticket in hand where they took the conversation before a word: rejects once the message is theirs. */
  keepMessage(): Promise<void>;
  /** The companion may not answer it: rejects once the message is theirs, if they have the conversation by now. */
  keepIfTaken(): Promise<void>;
  /** The model asks for one. Resolves with what the visitor reads; never rejects. */
  answerAsk(reason: string | null): Promise<string>;
  /** Call it once the turn is stored, `isOffered`: it found nothing. Never rejects. Returns what its readers get last. */
  noteStored(isOffered: boolean): Promise<readonly NamedEvent[]>;
}

/** Keeps the calls of one turn. */
export interface CallStorage {
  /** Before the first is sent; durable. */
  begin(calls: readonly ToolCall[]): Promise<void>;
  finish(id: string, end: CallEnd): Promise<void>;
  /**
   * Whether an earlier run of the same message had begun calls when its server stopped. They are this turn's then, and
   * there must be no others: what was sent once is never sent under another name.
   */
  adopt(): Promise<boolean>;
  /** Takes the call that the visitor decides on, once. Rejects with `not_found`, or with `conflict` if it is over. */
  decide(decision: { readonly callId: string; readonly isApproved: boolean }): Promise<DecidedCall>;
}

export interface DecidedCall {
  readonly call: ToolCall;
  /** Whether it was approved before: an earlier reply to that was never stored. */
  readonly isSent: boolean;
  /** All of the reply that asked for it, in order. */
  readonly calls: readonly ToolCall[];
}

/** What a turn found in its companion's knowledge. */
export interface FoundKnowledge {
  /** Names the questions that ask the same; null if there was an answer, or no question. */
  readonly unansweredGroupId: string | null;
  /** What the model saw. */
  readonly seen: readonly SeenPassage[];
}

/** What a reply was made with of its companion's knowledge. */
export interface UsedKnowledge {
  /** Whether the reply is no one's answer, but that nothing was found. */
  readonly isNothingFound: boolean;
  /** What the model got, by number. `isCited`: also where the reply must not show it. */
  listGiven(): readonly (CitedSource & { readonly isCited: boolean })[];
}

/** Where a turn's reply comes from: chosen before it is asked, so that the turn itself knows no kinds of replies. */
export interface ReplySource {
  /** Whether a provider is asked: then what may be spent is checked before. */
  readonly isCharged: boolean;
  /**
   * Sends the reply to the sink. Resolves when it has ended, however it ended after its first text; rejects if it failed
   * before. The signal ends it.
   */
  reply(sink: ReplySink, signal: StopSignal): Promise<TurnOutcome>;
}

/** How a reply ended; a turn may answer without asking anybody. */
export type TurnOutcome = Omit<ReplyOutcome, "answeredBy"> & {
  readonly answeredBy: Answerer | null;
  /** Whether the visitor is to decide before there is more of it. */
  readonly isPaused?: boolean;
};

/** A turn as it is stored. */
export interface TurnResult extends CountedTurn {
  /** False if the provider failed before its first text: stored is only what it charges for all the same. */
  readonly isKept: boolean;
  /** What the model was asked. */
  readonly request: ReplyRequest;
  /** What the model said, well-formed; empty if the turn was stopped before that. */
  readonly reply: readonly MessagePart[];
  /** Whether the provider finished it. */
  readonly complete: boolean;
  /** Why the server or the provider ended it early; null if it is complete, or all readers left. */
  readonly endCode: StreamErrorCode | null;
  /** As in `ReplyOutcome`. */
  readonly finishReason: string | null;
  /** Whether the companion's account had an enabled webhook when the turn was admitted. */
  readonly hasWebhooks: boolean;
  /** Milliseconds from the call to the first text; null if there was none. */
  readonly firstTextMs: number | null;
  /** What the calls before the last came to, which are counted already. */
  readonly earlier: CallTotals;
  /** Null for a companion without any, and for a failed turn. */
  readonly knowledge: UsedKnowledge | null;
}
