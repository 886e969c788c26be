/** The rights by which someone listens: each is checked once for all who listen by it, however many they are. */
import { createOpenTurns, type OpenTurn, type OpenTurns, type OpenTurnsOptions } from "../turns/open-turns.ts";
import type { ListenerRight } from "./live.ts";

export interface ListenerRights {
  /** `onLost` is called at most once. Returns what ends the watch. */
  watch(right: ListenerRight, onLost: () => void): () => void;
  readonly checks: Pick<OpenTurns, "expectEnd">;
  stop(): void;
}

const never = Promise.resolve();

/** Checked like those of running turns, twice a second, and only where something has changed. */
export function createListenerRights(options: Omit<OpenTurnsOptions, "perAddress">): ListenerRights {
  const checks = createOpenTurns({ ...options, perAddress: Number.POSITIVE_INFINITY });
  const watched = new Map<string, { readonly listeners: Set<() => void>; readonly leave: () => void }>();

  function begin({ name, check }: ListenerRight) {
    const listeners = new Set<() => void>();
    const turn: OpenTurn = {
      checkedMark: -1,
      isStopped: false,
      ended: never,
      async checkRight() {
        const isRightful = await check();
        if (!isRightful) for (const onLost of listeners) onLost();
        return isRightful;
      },
    };
    checks.enter(turn, null);
    const entry = { listeners, leave: () => checks.leave(turn, null) };
    watched.set(name, entry);
    return entry;
  }

  return {
    watch(right, onLost) {
      const { name } = right;
      const entry = watched.get(name) ?? begin(right);
      entry.listeners.add(onLost);
      return () => {
        if (!entry.listeners.delete(onLost) || entry.listeners.size > 0) return;
        entry.leave();
        if (watched.get(name) === entry) watched.delete(name);
      };
    },
    checks,
    stop: () => checks.stop(),
  };
}
