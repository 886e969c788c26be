/** What rooms may use: sockets by their contracts, and settings. `src/services.ts` decides which engines are behind it. */
import type { HoldingsByPlan, Plan } from "./domain/account.ts";
import type { TotpRequirement } from "./domain/second-factor.ts";
import type { HeartbeatTicker } from "./http/heartbeats.ts";
import type { Clock } from "./lib/clock.ts";
import type { IdSource } from "./lib/ids.ts";
import type { KeyedQueue } from "./lib/keyed-queue.ts";
import type { Log } from "./lib/log.ts";
import type { Sealing } from "./lib/sealing.ts";
import type { DailyQuota } from "./limits/daily-quota.ts";
import type { Limiter } from "./limits/limiter.ts";
import type { RateRules } from "./limits/rules.ts";
import type { LlmProvider } from "./llm/provider.ts";
import type { Measurements } from "./metrics/measurements.ts";
import type { ProviderHealth } from "./metrics/provider-health.ts";
import type { UseRecorder } from "./metrics/use-recorder.ts";
import type { Store } from "./store/store.ts";
import type { OpenTurns } from "./turns/open-turns.ts";
import type { Voice } from "./voice/voice.ts";

export interface Settings {
  /** Without a trailing slash; null: links are made only where it is certain, see `base-url.ts`. */
  publicUrl: string | null;
  /** Whether the server listens on an address that only this machine reaches. */
  isLoopback: boolean;
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
  dailyMessages: Readonly<Record<Plan, number>>;
  /** Voice sessions a day per companion, by plan. */
  dailyVoiceSessions: Readonly<Record<Plan, number>>;
  /** Binds what API and dashboard write; the operator's commands are free. */
  holdings: HoldingsByPlan;
  metricsToken: string | null;
  /** Whose account must have a second factor to use the dashboard. */
  requireTotp: TotpRequirement;
  /** Program version, shown in the API document and on `/healthz`. */
  version: string;
}

export interface Services {
  readonly settings: Settings;
  readonly store: Store;
  readonly limiter: Limiter;
  readonly rules: RateRules;
  /** Of messages. */
  readonly dailyQuota: DailyQuota;
  /** Of voice sessions. */
  readonly voiceQuota: DailyQuota;
  readonly conversationQueue: KeyedQueue;
  /** Under way: shutdown waits for them, since each still has its commit to make. */
  readonly openTurns: OpenTurns;
  readonly llm: LlmProvider;
  readonly providerHealth: ProviderHealth;
  readonly voice: Voice;
  /** Last use and request counts of keys, tokens and sessions. */
  readonly uses: UseRecorder;
  /** Seals secrets that are kept in the store. */
  readonly sealing: Sealing;
  readonly heartbeats: HeartbeatTicker;
  readonly measurements: Measurements;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
  /** Set when the server starts to drain. */
  readonly lifecycle: { isDraining: boolean };
}
