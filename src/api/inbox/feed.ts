/** The inbox's stream for one reader: every conversation outside plain talk as it stands, then each change. */
import type { Services } from "../../core/dependencies.ts";
import type { InboxEvent, InboxListener } from "../../core/people/live.ts";
import type { Conversation } from "../../domain/conversation.ts";
import type { Handoff } from "../../domain/handoff.ts";
import { presentMs } from "../../domain/presence.ts";
import { frameEvent, type LiveStream } from "../../http/live-stream.ts";
import { ConversationRows } from "../../http/schemas/conversation.ts";
import { toWireMessage } from "../../http/schemas/message.ts";
import { toWirePresence, toWireTyping } from "./responses.ts";

export interface Reader {
  readonly accountId: string;
  /** Whose `unread` it is, and whose switch; null: no one's. */
  readonly personId: string | null;
  /** Whether that is a member, who is present with this stream while their switch is on. */
  readonly isMember: boolean;
  /** Null: all of the account. */
  readonly companionIds: readonly string[] | null;
  readonly hasContent: boolean;
  readonly hasExcerpts: boolean;
}

const pageSize = 50;
/** Of a conversation with its words. */
const messagesOfOne = 100;
/** Changes that follow each other so fast are read together. */
const betweenMs = 200;
/** Changes that no record shows, such as a reply of the companion's; beyond them the next one brings them. */
const maxNoted = 20;

const isPlain = ({ state, status }: Handoff) => state === "companion" && status === null;

export class InboxFeed implements InboxListener {
  readonly #services: Services;
  readonly #reader: Reader;
  readonly #stream: LiveStream;
  /** The `change` up to which everything was sent. */
  #cursor: number;
  /** What was sent of what there was at the beginning; null once that is all. */
  #first: Set<string> | null;
  /** Whether the cursor is one of this database's. */
  #isKnown: boolean;
  readonly #noted = new Set<string>();
  #isBehind = false;
  #running: Promise<void> | null = null;
  #presence = "";

  /** `after`: the reader's last id; null: it has nothing yet. */
  constructor(services: Services, reader: Reader, stream: LiveStream, after: number | null) {
    this.#services = services;
    this.#reader = reader;
    this.#stream = stream;
    this.#cursor = after ?? 0;
    this.#isKnown = this.#cursor === 0;
    this.#first = after === null ? new Set() : null;
  }

  take(event: InboxEvent): void {
    if (event.type === "changed") {
      if (event.conversationId !== null && this.#noted.size < maxNoted) this.#noted.add(event.conversationId);
      this.#wake();
    } else if (event.type === "typing") {
      const { companionIds } = this.#reader;
      if (companionIds !== null && !companionIds.includes(event.typing.companionId)) return;
      this.#send(frameEvent("typing", toWireTyping(event.typing)));
    } else if (event.type === "presence") {
      void this.#sendPresence().catch((error) => this.#warn(error));
    } else {
      this.#stream.end(`error ${event.reason}`);
    }
  }

  begin(): void {
    // With the first bytes the head goes out, though there may be nothing to send for long.
    this.#stream.comment("ping");
    this.#wake();
    void this.#sendPresence().catch((error) => this.#warn(error));
  }

  /** Sends what has changed; never twice at the same time. */
  #wake(): void {
    this.#isBehind = true;
    this.#running ??= this.#run();
  }

  /** Only where it is another than was sent last. */
  async #sendPresence(): Promise<void> {
    const { store, clock, live } = this.#services;
    const { accountId, personId, isMember } = this.#reader;
    const nowMs = clock.nowMs();
    const [present, own] = await Promise.all([
      store.handoffs.listPresent(accountId, nowMs),
      personId === null ? null : store.handoffs.findPresence(accountId, personId),
    ]);
    if (isMember && own?.isAvailable && (own.seenAtMs ?? 0) <= nowMs - presentMs) {
      // Present with this stream: from then on each tick of the hub keeps it so.
      await store.handoffs.recordSeen([own.person.id], nowMs);
      live.notePresence(accountId);
      return;
    }
    const frame = frameEvent("presence", toWirePresence(present, own, nowMs));
    if (frame === this.#presence) return;
    this.#presence = frame;
    this.#send(frame);
  }

  async #run(): Promise<void> {
    try {
      while (this.#isBehind && this.#stream.outcome === null) {
        this.#isBehind = false;
        await this.#sendChanges();
        await Bun.sleep(betweenMs);
      }
    } catch (error) {
      // The next change, or the next check of what may have been missed, finds it again.
      this.#warn(error);
    } finally {
      this.#running = null;
    }
  }

  /** An id that this database never gave, or gave before it was restored from a backup, says nothing of what the reader has. */
  async #checkCursor(): Promise<void> {
    const { accountId, companionIds } = this.#reader;
    const known = await this.#services.store.handoffs.listSince(accountId, this.#cursor - 1, 1, companionIds);
    if (known.length === 0) [this.#cursor, this.#first] = [0, new Set()];
    this.#isKnown = true;
  }

  async #sendChanges(): Promise<void> {
    const { store } = this.#services;
    const { accountId, companionIds } = this.#reader;
    if (!this.#isKnown) await this.#checkCursor();
    for (;;) {
      const found = await store.handoffs.listSince(accountId, this.#cursor, pageSize, companionIds);
      const first = this.#first;
      // One that was sent, and became plain talk meanwhile, is a change.
      const shown = found.filter(({ conversationId, handoff }) => {
        return first === null || !isPlain(handoff) || first.has(conversationId);
      });
      for (const { conversationId } of shown) first?.add(conversationId);
      await this.#sendRows(shown.map(({ conversationId, handoff }) => ({ conversationId, change: handoff.change })));
      this.#cursor = found.at(-1)?.handoff.change ?? this.#cursor;
      for (const { conversationId } of found) this.#noted.delete(conversationId);
      if (found.length < pageSize || this.#stream.outcome !== null) break;
    }
    this.#first = null;
    const noted = [...this.#noted];
    this.#noted.clear();
    for (const conversationId of noted) {
      const found = await store.handoffs.findOf(accountId, conversationId);
      if (found === null || found.handoff === null || isPlain(found.handoff)) continue;
      if (companionIds !== null && !companionIds.includes(found.key.companionId)) continue;
      // What comes after it is found by its own change.
      if (found.handoff.change <= this.#cursor) await this.#sendRows([{ conversationId, change: this.#cursor }]);
    }
  }

  async #sendRows(changes: readonly { conversationId: string; change: number }[]): Promise<void> {
    const { store } = this.#services;
    const { accountId, personId, hasContent, hasExcerpts } = this.#reader;
    const page = { limit: hasContent ? messagesOfOne : 1, before: null };
    const pages = await Promise.all(
      changes.map(({ conversationId }) => store.conversations.find(accountId, conversationId, page)),
    );
    const conversations = pages.flatMap((found): Conversation[] => (found === null ? [] : [found.conversation]));
    const shown = new ConversationRows(this.#services, accountId, personId);
    const rows = await (hasExcerpts ? shown.showWithExcerpts(conversations, null) : shown.show(conversations));
    const rowOf = new Map(rows.map((row) => [row.id, row]));
    for (const [at, { conversationId, change }] of changes.entries()) {
      const row = rowOf.get(conversationId);
      // Erased meanwhile.
      if (row === undefined) continue;
      const messages = (pages[at]?.messages ?? []).map((message) => toWireMessage(message));
      await this.#send(frameEvent("conversation", hasContent ? { ...row, messages } : row, change));
    }
  }

  #send(frames: string): Promise<void> | undefined {
    return this.#stream.send(frames);
  }

  #warn(error: unknown): void {
    this.#services.log.warn("the inbox could not be read for a stream", { error });
  }
}
