/** What a turn has of its companion's knowledge: passages for the model, a filter for its reply, and what to note of both. */
import type { ReplySink } from "../../contracts/llm/provider.ts";
import { type HistoryMessage, textOf } from "../../domain/conversation.ts";
import { noTokens } from "../../domain/usage.ts";
import type { StopSignal } from "../../lib/stop-signal.ts";
import type { Services } from "../dependencies.ts";
import { CitedReply, toSources } from "../knowledge/citations/cited-reply.ts";
import type { Found } from "../knowledge/retrieval/found.ts";
import { toPassagesMessage } from "../knowledge/retrieval/passages-message.ts";
import { nameQuestion } from "../knowledge/retrieval/question-group.ts";
import { noAnswerTextFor } from "../knowledge/words/no-answer-texts.ts";
import type { SourcesEvent } from "./events.ts";
import type { FoundKnowledge, ReplySource, TurnStart, UsedKnowledge } from "./turn-start.ts";

type KnowledgeServices = Pick<Services, "knowledge" | "ids" | "log">;

const fenceCharacters = 20;

/** Of a decision, which is no question: all markers of the reply are the model's inventions. */
const nothingAsked: Found = { passages: [], isWhole: false, isFound: true, isSmallTalk: false, topic: new Set() };

export class TurnKnowledge implements UsedKnowledge {
  /** The message with the passages; null if there are none, or no model is asked. */
  readonly message: HistoryMessage | null = null;
  /** What is said instead of asking a model; null: it is asked. */
  readonly source: ReplySource | null = null;
  /** Where the provider's reply goes; null: it is passed on as it is, or no provider is asked. */
  readonly reply: CitedReply | null;
  readonly #services: KnowledgeServices;
  readonly #start: TurnStart;
  readonly #found: Found;

  constructor(services: KnowledgeServices, start: TurnStart, found: Found, previous: string | null, sink: ReplySink) {
    const { companion, message } = start;
    this.#services = services;
    this.#start = start;
    this.#found = found;
    const sayNothingFound = () => companion.noAnswerText ?? noAnswerTextFor(message, previous);
    if (companion.answerMode === "grounded" && !found.isFound && !found.isSmallTalk) {
      this.source = fixedText(sayNothingFound());
    } else if (found.passages.length > 0) {
      const fence = start.makeFence?.(found.passages) ?? services.ids.secret(fenceCharacters);
      this.message = toPassagesMessage(found.passages, companion, fence);
    }
    const { citations: mode, hasSources } = companion;
    const isCited = hasSources && this.source === null;
    this.reply = isCited ? new CitedReply(sink, { mode, passages: found.passages, sayNothingFound }) : null;
  }

  /**
   * Call it once the turn is stored. Never rejects: the reply is whole without it. Returns the sources of one that is
   * said to its end: nothing if the model was given no passages, as of a stored reply.
   */
  async note(isSaid: boolean): Promise<SourcesEvent[]> {
    try {
      await this.#start.storage.noteKnowledge?.(this.#toFacts());
    } catch (error) {
      const { requestId, companion } = this.#start;
      this.#services.log.error("what a turn found is not noted", { requestId, companionId: companion.id, error });
    }
    if (!isSaid || this.message === null || this.reply === null) return [];
    return [{ type: "sources", sources: this.reply.listSources() }];
  }

  get isNothingFound(): boolean {
    return this.source !== null || this.reply?.isEmpty === true;
  }

  listGiven() {
    return toSources(this.#listSeen()).map((source) => ({
      ...source,
      isCited: this.reply?.isCited(source.n) === true,
    }));
  }

  #toFacts(): FoundKnowledge {
    const { isFound, isSmallTalk, topic } = this.#found;
    const isUnanswered = !isFound && !isSmallTalk;
    return {
      unansweredGroupId: isUnanswered ? nameQuestion(this.#start.companion.id, topic) : null,
      seen: this.#listSeen().map(({ n, edition, ordinal }) => ({
        n,
        edition,
        ordinal,
        isCited: this.reply?.isCited(n) === true,
      })),
    };
  }

  #listSeen() {
    return this.source === null ? this.#found.passages : [];
  }
}

function fixedText(text: string): ReplySource {
  return {
    isCharged: false,
    async reply(sink) {
      sink.emit({ type: "text", deltas: [text] });
      return { complete: true, usage: noTokens, answeredBy: null, finishReason: "stop", failure: null };
    },
  };
}

interface Consultation {
  /** Newest first. */
  readonly earlier: readonly HistoryMessage[];
  /** Where the reply goes. */
  readonly sink: ReplySink;
  readonly signal: StopSignal;
}

/** Rejects as the store does. */
export async function consultKnowledge(
  services: KnowledgeServices,
  start: TurnStart,
  { earlier, sink, signal }: Consultation,
): Promise<TurnKnowledge> {
  const { companion, message, given, decision } = start;
  if (decision !== undefined) return new TurnKnowledge(services, start, nothingAsked, null, sink);
  // Of a conversation that its caller keeps, the last is `message` itself.
  const asked = given === undefined ? earlier : given.messages.toReversed();
  const questions = asked.filter(({ role }) => role === "user");
  const before = questions[given === undefined ? 0 : 1];
  const previous = before === undefined ? null : textOf(before);
  const found = await services.knowledge.find({ companion, last: message, previous, signal });
  return new TurnKnowledge(services, start, found, previous, sink);
}
