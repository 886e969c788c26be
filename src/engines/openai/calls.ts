/**
 * The calls of one reply: what each asks for, and whether a refusal, or a bound that thoughts used up, is worth one more
 * call. What a refusal teaches is kept once a request succeeds that heeds it.
 */
import type { ReplyRequest } from "../../contracts/llm/provider.ts";
import type { ProviderFailure } from "../../contracts/llm/provider-failure.ts";
import type { Log } from "../../lib/log.ts";
import { type CallRules, type PlannedCall, planCall } from "./call-plan.ts";
import { chatWire } from "./chat-wire.ts";
import { type KnownModel, type Lesson, learn, type ModelFacts } from "./model-facts.ts";
import { isAboutForm, isAboutTools, readLesson } from "./refusal.ts";
import type { ReplyStream } from "./reply-stream.ts";
import { createResponsesWire } from "./responses-wire.ts";
import type { Wire } from "./wire.ts";
import type { ChosenWire } from "./wire-choice.ts";

/** OpenAI refuses a smaller bound; the plan keeps to it, too, so that what is reserved is what is sent. */
const leastOutputTokens = 16;
const wires: Readonly<Record<Wire["name"], Wire>> = {
  chat: chatWire,
  responses: createResponsesWire(leastOutputTokens),
};

export interface CallTerms {
  readonly provider: string;
  readonly chosen: ChosenWire;
  readonly rules: CallRules;
  readonly log: Log;
}

export interface NextReplyCall {
  readonly wire: Wire;
  readonly plan: PlannedCall;
  /** As readers want it: undefined for a request without tools. */
  readonly round: number | undefined;
}

export class ReplyCalls {
  readonly #request: ReplyRequest;
  readonly #terms: CallTerms;
  readonly #known: KnownModel;
  readonly #lessons: Lesson[] = [];
  #areLessonsKept = true;
  #extraCalls = 0;
  #needsRoom = false;

  constructor(request: ReplyRequest, terms: CallTerms, known: KnownModel) {
    this.#request = request;
    this.#terms = terms;
    this.#known = known;
  }

  next(): NextReplyCall {
    return this.#plan({ isBare: this.#lessons.length > 0, needsRoom: this.#needsRoom });
  }

  /** The provider accepts the request. */
  noteAccepted({ wire, plan }: NextReplyCall): void {
    if (!this.#areLessonsKept) {
      this.#known.keep(this.#lessons);
      for (const lesson of this.#lessons) this.#log(lesson);
    }
    this.#areLessonsKept = true;
    this.#known.noteAccepted(wire.name, plan);
  }

  /** Its response is over, well or not. */
  noteEnd({ plan }: NextReplyCall, { reasoningBytes, usage }: ReplyStream): void {
    if (reasoningBytes > 0 || (usage?.reasoningTokens ?? 0) > 0) this.#known.noteReasoning(plan.effort);
  }

  /** Whether there is one more call, which is none of the retries: for what was refused, or for room to think. */
  grantsExtra(failure: ProviderFailure, call: NextReplyCall): boolean {
    const { wire, plan } = call;
    if (failure.kind === "no_room") {
      this.noteAccepted(call);
      return this.#makeRoom(plan);
    }
    const mayChangeWire = wire.name === "chat" && this.#terms.chosen.mayChange;
    const hasAcceptedTools = this.#known.hasAccepted(wire.name, "tools");
    const refused = { request: this.#request, plan, wire: wire.name, mayChangeWire, hasAcceptedTools };
    const lesson = readLesson(failure, refused);
    if (lesson === null) return false;
    // That call left out all there was to leave out, and so it is the last one, unless its very form, or tools, were refused.
    const lessons = [...this.#lessons, lesson];
    const maxExtra = 1 + Number(lessons.some(isAboutForm)) + Number(lessons.some(isAboutTools));
    if (this.#extraCalls >= maxExtra) return false;
    this.#extraCalls++;
    this.#lessons.push(lesson);
    this.#areLessonsKept = false;
    return true;
  }

  #makeRoom({ maxOutputTokens }: PlannedCall): boolean {
    // A form that was refused is none of the model's thoughts: room for them is worth a call of its own.
    const isSecond = this.#extraCalls > 1 || !this.#lessons.every((one) => isAboutForm(one) || isAboutTools(one));
    if (this.#needsRoom || isSecond || this.#terms.rules.reasoningTokens === 0) return false;
    const isBare = this.#lessons.length > 0;
    if (this.#plan({ isBare, needsRoom: true }).plan.maxOutputTokens <= maxOutputTokens) return false;
    this.#extraCalls++;
    this.#needsRoom = true;
    return true;
  }

  #plan(needs: { isBare: boolean; needsRoom: boolean }): NextReplyCall {
    const { chosen, rules, provider } = this.#terms;
    const facts: ModelFacts = learn(this.#known.facts, this.#lessons);
    const wire = wires[facts.wire ?? chosen.name];
    const plan = planCall(this.#request, rules, { provider, wire: wire.name, known: this.#known, facts }, needs);
    return { wire, plan, round: plan.tools.length === 0 ? undefined : plan.rounds.length + 1 };
  }

  #log({ refused, isPassing: _, ...instead }: Lesson): void {
    const { requestId, model } = this.#request;
    const { provider, log } = this.#terms;
    const about = { requestId, provider, model };
    for (const parameter of refused ?? []) log.info("provider refuses a parameter", { ...about, parameter });
    if (Object.keys(instead).length > 0) log.info("provider refuses a part of requests", { ...about, ...instead });
  }
}
