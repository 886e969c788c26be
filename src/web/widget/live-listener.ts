/** When the widget listens to a conversation: while a person may write in it, in one tab of the browser. */
import { CompanionError } from "../../reply-reader/errors.ts";
import { sleep } from "../../reply-reader/waiting.ts";
import type { LiveEvent } from "../sdk/live.ts";
import { keyPrefix } from "../sdk/storage.ts";
import { lead } from "./leader.ts";
import type { PeopleParts } from "./people-parts.ts";

interface Hearer {
  newestSeq(): number;
  apply(event: LiveEvent): void;
  onConnection(isConnected: boolean): void;
  draw(): void;
}

/** Before what has ended begins again, where people may write at any time. */
const againMs = 25_000;

export function createListener({ chat, host, read, write, isWanted }: PeopleParts, hearer: Hearer) {
  const { client, source } = chat;
  const cleanUp = new AbortController();
  /** Listens, or waits for another tab to end. */
  let current: { session: string; stop: AbortController } | null = null;
  /** Where there is nothing more to hear: the conversation, and its length where people may write at any time. */
  let heard = "";
  /** Others listen in its stead, until the visitor is here again. */
  let isReplaced = false;
  /** The page was left; it may be shown again. */
  let isResting = false;

  const mayWriteAnytime = () => !!source.config?.handoff?.listen;
  const mark = () => client.sessionId + (mayWriteAnytime() ? chat.messages.length : "");

  async function follow(signal: AbortSignal): Promise<void> {
    // Meanwhile another tab may have heard the end.
    if (!isWanted()) return;
    const { onConnection } = hearer;
    const companion = await client.getSdk();
    for await (const event of companion.live({ signal, after: hearer.newestSeq(), onConnection })) hearer.apply(event);
    if (read().state !== "companion") write({ state: "companion", until: null, at: Date.now() });
  }

  async function listen(mine: NonNullable<typeof current>): Promise<void> {
    const now = mark();
    try {
      await lead(`${keyPrefix(host.token)}live`, mine.stop.signal, follow);
    } catch (error) {
      if (mine.stop.signal.aborted) return;
      isReplaced = Object(error).code === "replaced";
      // The server decides who answers the next message.
      if (error instanceof CompanionError && !isReplaced) write({ state: "companion", until: null });
    }
    if (current !== mine) return;
    heard = now;
    current = null;
    hearer.draw();
    if (!mayWriteAnytime()) return;
    await sleep(againMs, cleanUp.signal).catch(() => {});
    if (heard === now) heard = "";
    if (!cleanUp.signal.aborted) hearer.draw();
  }

  function stop(): void {
    current?.stop.abort();
    current = null;
  }

  return {
    /** Begins and ends as it is due. */
    draw(): void {
      if (current && (!isWanted() || current.session !== client.sessionId)) stop();
      if (current || isReplaced || isResting || !isWanted() || (heard === mark() && !chat.isHeld)) return;
      current = { session: client.sessionId, stop: new AbortController() };
      void listen(current);
    },
    /** A stream that gave way to others is opened again; `hasBegun`: also one that had nothing more. */
    wake(hasBegun: boolean): void {
      isReplaced = false;
      if (hasBegun) heard = "";
    },
    /** Lets go of the stream until it is called with false. */
    rest(isLeaving: boolean): void {
      isResting = isLeaving;
      if (isLeaving) stop();
    },
    close(): void {
      cleanUp.abort();
      stop();
    },
  };
}
