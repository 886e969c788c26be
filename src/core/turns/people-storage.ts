/** Stores turns of a conversation that people may step into: one begins only while the companion has it, and ends once they take it. */
import type { HistoryMessage } from "../../domain/conversation.ts";
import { AppError } from "../../domain/errors.ts";
import { type Handoff, isOutside, stateConflict, toVisitorState } from "../../domain/handoff.ts";
import type { Services } from "../dependencies.ts";
import type { Asked, People, VisitorConversation } from "../people/people.ts";
import { handoffTextOf } from "../people/texts.ts";
import { ConversationStorage, type KeptMessage } from "./conversation-storage.ts";
import type { NamedEvent } from "./events.ts";
import type { Turn } from "./turn.ts";
import { KeptForPeople, type TurnPeople, type TurnRight } from "./turn-start.ts";

export interface PeopleKeptMessage extends KeptMessage {
  /** As in `TurnStart`, but may be called again. */
  readonly spendWork?: (() => Promise<void>) | null;
}

type StorageServices = Pick<Services, "store" | "clock" | "ids" | "visitors" | "log"> & { readonly people: People };

export class PeopleStorage extends ConversationStorage implements TurnPeople {
  readonly people: TurnPeople = this;
  readonly #services: StorageServices;
  readonly #conversation: VisitorConversation;
  readonly #message: PeopleKeptMessage;
  readonly #hasEvents: boolean;
  #turn: Pick<Turn, "stop" | "ended"> | null = null;
  /** Null while nothing stops the turn: before its time, and once its reply is the server's own or stored. */
  #stopWatching: (() => void) | null = null;
  /** What came of the model's ask for a person; null if it has not asked. */
  #asked: Asked | null = null;
  #isNoted = false;
  /** Of the message, once people have it. */
  #kept: KeptForPeople | null = null;

  constructor(
    services: StorageServices,
    conversation: VisitorConversation,
    message: PeopleKeptMessage,
    hasEvents: boolean,
  ) {
    super(services, conversation.companion, conversation.key, message);
    this.#services = services;
    this.#conversation = conversation;
    this.#message = message;
    this.#hasEvents = hasEvents;
  }

  get mayModelAsk(): boolean {
    return this.#conversation.companion.handoff?.ask.includes("model") === true;
  }

  get hasCalls(): boolean {
    return this.calls?.hasAny === true;
  }

  /** Call it before the turn begins. */
  follow(turn: Pick<Turn, "stop" | "ended">): void {
    this.#turn = turn;
  }

  /** The same right, which also finds out that people have taken the conversation where no announcement came. */
  guard(right: TurnRight): TurnRight {
    return {
      check: async (isCalling = false) => (await Promise.all([right.check(), this.#checkState(isCalling)]))[0],
      refusal: () => right.refusal(),
    };
  }

  override async begin(maxBytes: number): Promise<HistoryMessage[]> {
    // First: who takes it from now on stops the turn.
    this.#stopWatching = this.#services.people.onTaken(this.#conversation.key, () => this.#stopTurn());
    void this.#turn?.ended.then(() => this.#end());
    const [earlier, handoff] = await Promise.all([super.begin(maxBytes), this.#find()]);
    if (isOutside(handoff)) await this.keepMessage();
    return earlier;
  }

  async keepIfTaken(): Promise<void> {
    if (isOutside(await this.#find())) await this.keepMessage();
  }

  async keepMessage(): Promise<void> {
    if (this.#kept !== null) throw this.#kept;
    const { text, named } = this.#message;
    if (text === "") throw stateConflict("A person has this conversation now: nothing is called.", await this.#find());
    await this.#message.spendWork?.();
    const isPlain = named === null && !this.#hasEvents;
    const message = { text, messageId: named?.messageId ?? null, isPlain };
    const kept = await this.#services.people.keepMessage(this.#conversation, message);
    if (kept === null) return;
    this.#isNoted = true;
    this.#kept = new KeptForPeople(kept);
    throw this.#kept;
  }

  async answerAsk(reason: string | null): Promise<string> {
    // What follows is the server's own, and nothing that a person has to stop.
    this.#unwatch();
    const { companion } = this.#conversation;
    if (companion.handoff === null) return "";
    try {
      // Before the visitor reads it: otherwise a server that stops in between has promised a person whom no one asked.
      this.#asked = await this.#services.people.ask(this.#conversation, "model", reason);
    } catch (error) {
      this.#logFailure(error);
    }
    const state = this.#asked?.state ?? "companion";
    return handoffTextOf(companion.handoff, state === "companion" ? "unavailable" : state, this.#message.text);
  }

  async noteStored(isOffered: boolean): Promise<readonly NamedEvent[]> {
    const { people } = this.#services;
    const { companion, key } = this.#conversation;
    const events: NamedEvent[] = [];
    this.#unwatch();
    this.#isNoted = true;
    try {
      if (isOffered && this.#hasEvents && companion.handoff?.ask.includes("no_answer")) {
        await people.noteOffer(key);
        events.push({ type: "offer" });
      }
      const handoff = await people.noteTurn(this.#conversation, this.#asked);
      if (isOutside(handoff)) events.push({ type: "state", state: toVisitorState(handoff, companion.name) });
    } catch (error) {
      this.#logFailure(error);
    }
    return events;
  }

  #find(): Promise<Handoff | null> {
    return this.#services.store.handoffs.find(this.#conversation.key);
  }

  async #checkState(isCalling: boolean): Promise<void> {
    if (this.#stopWatching === null) return;
    const handoff = await this.#find();
    // Who only asks for a person meanwhile still reads to its end what a provider is saying, but none is asked again.
    if (handoff?.state === "person" || (isCalling && isOutside(handoff))) this.#stopTurn();
  }

  #stopTurn(): void {
    if (this.#stopWatching === null) return;
    this.#turn?.stop("taken", new AppError("unavailable", "A person has just taken this conversation. Try again."));
  }

  #unwatch(): void {
    this.#stopWatching?.();
    this.#stopWatching = null;
  }

  /** The turn is over, and has left the queue. */
  #end(): void {
    this.#unwatch();
    // Nothing was stored, but who has reserved the conversation waits for the end of the turn.
    if (!this.#isNoted)
      this.#services.people.noteTurn(this.#conversation).catch((error: unknown) => this.#logFailure(error));
  }

  #logFailure(error: unknown): void {
    this.#services.log.error("a turn is not reported to people", { requestId: this.#conversation.requestId, error });
  }
}
