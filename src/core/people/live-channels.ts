/** The conversations with listeners here, and how what is new in them is found. */
import type { HandoffStore } from "../../contracts/store/handoffs.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import type { Log } from "../../lib/log.ts";
import { LiveChannel } from "./live-channel.ts";

export interface LiveChannelsOptions {
  readonly store: Pick<HandoffStore, "findLive" | "listLive" | "listChanged">;
  readonly log: Pick<Log, "warn">;
}

/** Conversations of one statement. */
const sweepSize = 500;

const nameOf = ({ companionId, sessionId, visitorId }: ConversationKey) =>
  `${companionId} ${sessionId} ${visitorId ?? ""}`;

export class LiveChannels {
  readonly #options: LiveChannelsOptions;
  readonly #byKey = new Map<string, LiveChannel>();
  /** Those that were read once. */
  readonly #byId = new Map<string, LiveChannel>();
  /** The last read failed: an outage is logged once, not for each conversation. */
  #isAway = false;

  constructor(options: LiveChannelsOptions) {
    this.#options = options;
  }

  open(key: ConversationKey): LiveChannel {
    const known = this.#byKey.get(nameOf(key));
    if (known !== undefined) return known;
    const channel = new LiveChannel(key, this.#options.store);
    this.#byKey.set(nameOf(key), channel);
    return channel;
  }

  find(conversationId: string): LiveChannel | undefined {
    return this.#byId.get(conversationId);
  }

  /** To be called once it was read. */
  index(channel: LiveChannel, conversationId: string): void {
    const before = this.#byId.get(conversationId);
    this.#byId.set(conversationId, channel);
    // It was given to another visitor meanwhile.
    if (before !== undefined && before !== channel) void this.#refresh(before);
  }

  closeIfEmpty(channel: LiveChannel): void {
    if (channel.subscribers.size > 0) return;
    if (this.#byKey.get(nameOf(channel.key)) === channel) this.#byKey.delete(nameOf(channel.key));
    const { conversationId } = channel;
    if (conversationId !== null && this.#byId.get(conversationId) === channel) this.#byId.delete(conversationId);
  }

  /** Another instance names it by its id. */
  noteChanged(conversationId: string): void {
    const channel = this.#byId.get(conversationId);
    if (channel !== undefined) void this.#refresh(channel);
    // It may be one that is being read for the first time.
    for (const other of this.#byKey.values()) if (other.conversationId === null) void this.#refresh(other);
  }

  noteChangedKey(key: ConversationKey): void {
    const channel = this.#byKey.get(nameOf(key));
    if (channel !== undefined) void this.#refresh(channel);
  }

  noteErased(companionId: string): void {
    for (const channel of this.#byKey.values())
      if (channel.key.companionId === companionId) void this.#refresh(channel);
  }

  readAgain(): void {
    for (const channel of this.#byKey.values()) if (channel.isBehind) void this.#refresh(channel);
  }

  /** Those that belong to the `part`th of so many parts, counted on and on. */
  listPart(part: number, parts: number): string[] {
    return [...this.#byId.keys()].filter((id) => Number.parseInt(id.slice(-4), 16) % parts === part % parts);
  }

  /** Finds what a lost announcement would have said. */
  async sweep(): Promise<void> {
    const all = [...this.#byId.values()].flatMap(({ opened }) => (opened === null ? [] : [opened]));
    for (let at = 0; at < all.length; at += sweepSize) {
      const known = all.slice(at, at + sweepSize).map(({ conversationId, handoff, newestSeq }) => {
        return { conversationId, change: handoff?.change ?? 0, newestSeq };
      });
      const changed = await this.#options.store.listChanged(known);
      for (const { conversationId } of changed) this.noteChanged(conversationId);
    }
  }

  async #refresh(channel: LiveChannel): Promise<void> {
    try {
      await channel.refresh();
      this.#isAway = false;
    } catch (error) {
      if (!this.#isAway) this.#options.log.warn("what is new in conversations could not be read", { error });
      this.#isAway = true;
    }
  }
}
