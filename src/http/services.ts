/** What rooms may use: sockets by their contracts, and settings. `src/services.ts` decides which engines are behind it. */
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import type { KeyedQueue } from "../lib/keyed-queue.ts";
import type { Log } from "../lib/log.ts";
import type { DailyQuota } from "../limits/daily-quota.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { RateRules } from "../limits/rules.ts";
import type { LlmProvider } from "../llm/provider.ts";
import type { Store } from "../store/store.ts";
import type { Voice } from "../voice/voice.ts";
import type { HeartbeatTicker } from "./heartbeats.ts";
import type { Measurements } from "./measurements.ts";
import type { OpenReplies } from "./open-replies.ts";
import type { UseRecorder } from "./use-recorder.ts";

export interface Settings {
  /** Without a trailing slash; null: derived from each request. */
  publicUrl: string | null;
  /** How many proxies in front are trusted for address, protocol and host. */
  trustedProxies: number;
  /** Whether the server itself speaks TLS. */
  isTls: boolean;
  /** Whether `/` shows the demo. */
  isDemo: boolean;
  llm: {
    /** For companions that name none. */
    model: string;
    /** What companions may ask for; always holds `model`. */
    models: readonly string[];
    maxOutputTokens: number;
  };
  /** Messages a day per companion, by plan. */
  dailyMessages: { free: number; paid: number };
  metricsToken: string | null;
  /** Program version, shown in the API document and on `/healthz`. */
  version: string;
}

export interface Services {
  readonly settings: Settings;
  readonly store: Store;
  readonly limiter: Limiter;
  readonly rules: RateRules;
  readonly dailyQuota: DailyQuota;
  readonly conversationQueue: KeyedQueue;
  readonly openReplies: OpenReplies;
  readonly llm: LlmProvider;
  readonly voice: Voice;
  /** Last use and request counts of keys, tokens and sessions. */
  readonly uses: UseRecorder;
  readonly heartbeats: HeartbeatTicker;
  readonly measurements: Measurements;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
  /** Replies under way: shutdown waits for them, since each still has its commit to make. */
  readonly runningTurns: Set<Promise<void>>;
  /** Set when the server starts to drain. */
  readonly lifecycle: { isDraining: boolean };
}
