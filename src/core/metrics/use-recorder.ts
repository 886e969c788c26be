/**
 * Collects last uses and request counts in memory and writes them together, so that no request pays for its own write.
 */
import type { KeyUse, Seen, Store } from "../../contracts/store/store.ts";
import { normalizeOrigin } from "../../domain/origin.ts";
import { type Clock, toUtcDay } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";

export interface UseRecorder {
  /** Counts one management call with the key. */
  noteKey(keyId: string): void;
  /** For calls that are no management calls: notes when the key was used, and counts nothing. */
  noteKeyUse(keyId: string): void;
  noteToken(tokenId: string): void;
  noteSession(sessionId: string): void;
  /** A page of this origin, as a browser sends it, has asked for the token's companion: noted once a UTC day. */
  noteSeen(tokenId: string, companionId: string, origin: string): void;
  /** Writes what is held; resolves when it is durable, or was put back because the store failed. */
  flush(): Promise<void>;
  /** Flushes a last time, and stops the timer. */
  close(): Promise<void>;
}

interface RecorderDependencies {
  store: Pick<Store, "apiKeys" | "companions" | "embedTokens" | "sessions">;
  clock: Pick<Clock, "nowMs">;
  log: Log;
}

/** What is remembered of a day: of some tokens, some origins. Those beyond are not noted, or are looked up again. */
const maxTokens = 5000;
const maxOrigins = 100;

/** A crash loses at most what was recorded within the last `intervalMs`. */
export function createUseRecorder({ store, clock, log }: RecorderDependencies, intervalMs = 1000): UseRecorder {
  // Calls count for the day in which they were made, not the one in which they are written.
  let keysByDay = new Map<string, Map<string, KeyUse>>();
  let tokens = new Map<string, number>();
  let sessions = new Map<string, number>();
  let seen: Seen[] = [];
  let seenDay = "";
  const seenByToken = new Map<string, Set<string>>();
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isClosed = false;
  let flushing: Promise<void> = Promise.resolve();

  function arm(): void {
    if (timer !== null || isClosed) return;
    timer = setTimeout(() => {
      timer = null;
      void flush();
    }, intervalMs);
    timer.unref();
  }

  function addKey(day: string, keyId: string, requests: number, usedAt: number): void {
    const uses = keysByDay.get(day) ?? new Map<string, KeyUse>();
    keysByDay.set(day, uses);
    const held = uses.get(keyId);
    if (!held) uses.set(keyId, { keyId, requests, lastUsedAt: usedAt });
    else {
      held.requests += requests;
      held.lastUsedAt = Math.max(held.lastUsedAt, usedAt);
    }
  }

  /** Runs one write; on failure `putBack` restores what it took, for the next flush. */
  async function write(what: string, run: () => Promise<void>, putBack: () => void): Promise<void> {
    try {
      await run();
    } catch (error) {
      putBack();
      arm();
      log.warn("last uses not written", { what, error });
    }
  }

  async function writeHeld(): Promise<void> {
    const taken = { keysByDay, tokens, sessions, seen };
    keysByDay = new Map();
    tokens = new Map();
    sessions = new Map();
    seen = [];
    const writes: Promise<void>[] = [];
    for (const [day, uses] of taken.keysByDay) {
      const list = [...uses.values()];
      const putBack = () => {
        for (const use of list) addKey(day, use.keyId, use.requests, use.lastUsedAt);
      };
      writes.push(write("keys", () => store.apiKeys.recordUses(list, day), putBack));
    }
    if (taken.tokens.size > 0) {
      const list = [...taken.tokens].map(([tokenId, lastUsedAt]) => ({ tokenId, lastUsedAt }));
      const putBack = () => putBackLatest(tokens, taken.tokens);
      writes.push(write("tokens", () => store.embedTokens.recordUses(list), putBack));
    }
    if (taken.sessions.size > 0) {
      const list = [...taken.sessions].map(([sessionId, lastUsedAt]) => ({ sessionId, lastUsedAt }));
      const putBack = () => putBackLatest(sessions, taken.sessions);
      writes.push(write("sessions", () => store.sessions.recordUses(list), putBack));
    }
    if (taken.seen.length > 0) {
      const putBack = () => {
        seen = [...taken.seen, ...seen].slice(0, maxTokens);
      };
      writes.push(write("websites", () => store.companions.recordSeen(taken.seen), putBack));
    }
    await Promise.all(writes);
  }

  /** One at a time, so that an older last use never overwrites a newer one. */
  function flush(): Promise<void> {
    flushing = flushing.then(writeHeld);
    return flushing;
  }

  function noteKey(keyId: string, requests: 0 | 1): void {
    const nowMs = clock.nowMs();
    addKey(toUtcDay(nowMs), keyId, requests, nowMs);
    arm();
  }

  return {
    noteKey: (keyId) => noteKey(keyId, 1),
    noteKeyUse: (keyId) => noteKey(keyId, 0),
    noteToken(tokenId) {
      tokens.set(tokenId, clock.nowMs());
      arm();
    },
    noteSession(sessionId) {
      sessions.set(sessionId, clock.nowMs());
      arm();
    },
    noteSeen(tokenId, companionId, origin) {
      const nowMs = clock.nowMs();
      const day = toUtcDay(nowMs);
      if (day !== seenDay || seenByToken.size >= maxTokens) seenByToken.clear();
      seenDay = day;
      const origins = seenByToken.get(tokenId) ?? new Set();
      if (origins.has(origin) || origins.size >= maxOrigins || seen.length >= maxTokens) return;
      // No browser sends another form: what remains was made up.
      if (normalizeOrigin(origin) !== origin || origin.includes("*")) return;
      seenByToken.set(tokenId, origins.add(origin));
      seen.push({ companionId, origin, seenAt: nowMs });
      arm();
    },
    flush,
    close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      return flush();
    },
  };
}

function putBackLatest(held: Map<string, number>, taken: ReadonlyMap<string, number>): void {
  for (const [id, usedAt] of taken) held.set(id, Math.max(usedAt, held.get(id) ?? 0));
}
