/** A conversation with the messages loaded so far: first the newest, then older ones a page at a time. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { call, type Query } from "../lib/api.ts";
import type { ConversationWithMessages } from "../lib/types.ts";

export interface Transcript {
  /** Null until it has arrived. */
  conversation: ConversationWithMessages | null;
  error: unknown;
  hasEarlier: boolean;
  /** Rejects like an API call. */
  loadEarlier(): Promise<void>;
  /** Adds messages sent since. */
  reload(): Promise<void>;
  /** The whole conversation, read to its beginning; rejects as a call does. */
  readWhole(): Promise<ConversationWithMessages>;
}

/** Enough for the messages between two polls; if it is not, everything is loaded again. */
const freshMessages = 20;
const maxMessages = 200;

export function useTranscript(path: string): Transcript {
  const [conversation, setConversation] = useState<ConversationWithMessages | null>(null);
  const [error, setError] = useState<unknown>(null);
  const shown = useRef<ConversationWithMessages | null>(null);
  const controller = useRef(new AbortController());
  const running = useRef<Promise<void> | null>(null);
  /** One more load is waiting for the one that is running. */
  const isAsked = useRef(false);

  const show = useCallback((next: ConversationWithMessages) => {
    shown.current = next;
    setConversation(next);
    setError(null);
  }, []);

  /** One at a time. Results for a conversation that was left are dropped. */
  const run = useCallback(
    async (act: (read: Read) => Promise<void>): Promise<void> => {
      const { signal } = controller.current;
      const acting = act((query) => call<ConversationWithMessages>("GET", path, { query, signal }));
      const one = acting
        .catch(() => {})
        .finally(() => {
          if (running.current === one) running.current = null;
        });
      running.current = one;
      try {
        await acting;
      } catch (failure) {
        if (!signal.aborted) throw failure;
      }
    },
    [path],
  );

  const reload = useCallback(async () => {
    // A running load may have begun before what this one is to bring; one more does for all who ask meanwhile.
    if (isAsked.current) return;
    const { signal } = controller.current;
    isAsked.current = true;
    while (running.current !== null) await running.current;
    isAsked.current = false;
    if (signal.aborted) return;
    try {
      await run(async (read) => {
        const known = shown.current;
        const fresh = known && joinFresh(known, await read({ messages_limit: freshMessages }));
        show(fresh ?? (await read({})));
      });
    } catch (failure) {
      setError(failure);
    }
  }, [run, show]);

  const loadEarlier = useCallback(async () => {
    const { signal } = controller.current;
    // A running load changes which messages are earlier.
    while (running.current !== null) await running.current;
    if (signal.aborted) return;
    await run(async (read) => {
      const known = shown.current;
      if (known === null || known.messages_next_cursor === null) return;
      show(joinEarlier(known, await read({ messages_cursor: known.messages_next_cursor })));
    });
  }, [run, show]);

  useEffect(() => {
    controller.current = new AbortController();
    running.current = null;
    isAsked.current = false;
    shown.current = null;
    setConversation(null);
    setError(null);
    void reload();
    return () => controller.current.abort();
  }, [reload]);

  async function readWhole(): Promise<ConversationWithMessages> {
    let whole = await call<ConversationWithMessages>("GET", path, { query: { messages_limit: maxMessages } });
    while (whole.messages_next_cursor !== null) {
      const query = { messages_limit: maxMessages, messages_cursor: whole.messages_next_cursor };
      whole = joinEarlier(whole, await call<ConversationWithMessages>("GET", path, { query }));
    }
    return whole;
  }

  const hasEarlier = conversation !== null && conversation.messages_next_cursor !== null;
  return { conversation, error, hasEarlier, loadEarlier, reload, readWhole };
}

type Read = (query: Query) => Promise<ConversationWithMessages>;

/** Null if the two do not overlap. */
function joinFresh(known: ConversationWithMessages, fresh: ConversationWithMessages): ConversationWithMessages | null {
  const firstId = fresh.messages[0]?.id;
  const at = known.messages.findIndex((message) => message.id === firstId);
  if (at === -1) return null;
  const { messages_next_cursor } = known;
  return { ...fresh, messages: [...known.messages.slice(0, at), ...fresh.messages], messages_next_cursor };
}

function joinEarlier(known: ConversationWithMessages, earlier: ConversationWithMessages): ConversationWithMessages {
  const { messages_next_cursor } = earlier;
  const ids = new Set(known.messages.map(({ id }) => id));
  const messages = earlier.messages.filter(({ id }) => !ids.has(id));
  return { ...known, messages: [...messages, ...known.messages], messages_next_cursor };
}
