/** What modules depend on: the contracts of the sockets, and settings. `src/app/services.ts` chooses the engines. */
import type { Announcements } from "../contracts/announcements.ts";
import type { Coordination } from "../contracts/coordination.ts";
import type { Limiter } from "../contracts/limiter/limiter.ts";
import type { RateRules } from "../contracts/limiter/rules.ts";
import type { LlmProvider } from "../contracts/llm/provider.ts";
import type { OutgoingHttp } from "../contracts/outgoing-http.ts";
import type { Store } from "../contracts/store/store.ts";
import type { HoldingsByPlan, Plan } from "../domain/account.ts";
import type { SelfCheck } from "../domain/finding.ts";
import type { Prices } from "../domain/prices.ts";
import type { TotpRequirement } from "../domain/second-factor.ts";
import type { ServerReports } from "../domain/server-report.ts";
import type { BodyBudget } from "../http/body-budget.ts";
import type { HeartbeatTicker } from "../http/heartbeats.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { Sealing } from "../lib/sealing.ts";
import type { SharedBudget } from "../lib/shared-budget.ts";
import type { EventDelivery } from "./events/events.ts";
import type { Instances } from "./instances/instances.ts";
import type { KnowledgeFinder } from "./knowledge/retrieval/found.ts";
import type { Mail } from "./mail/mail.ts";
import type { Measurements } from "./metrics/measurements.ts";
import type { ModelDates } from "./metrics/model-dates.ts";
import type { ProviderHealth } from "./metrics/provider-health.ts";
import type { UseRecorder } from "./metrics/use-recorder.ts";
import type { LiveHub } from "./people/live.ts";
import type { PeopleService } from "./people/people.ts";
import type { Attempts } from "./sign-in/attempts.ts";
import type { Toolbox } from "./tools/toolbox.ts";
import type { NamedReplies } from "./turns/named-replies.ts";
import type { OpenTurns } from "./turns/open-turns.ts";
import type { Challenges, Visitors } from "./visitors/visitors.ts";
import type { Voice } from "./voice/voice.ts";

export interface Settings {
  /** Without a trailing slash. If null, links are created only where the address is certain; see `base-url.ts`. */
  publicUrl: string | null;
  /** Where else the server answers under a certificate of its own: its pages there are its own, links never lead there. */
  otherUrls: readonly string[];
  /** Whether only this machine can reach the address that the server listens on. */
  isLoopback: boolean;
  /** How many proxies in front are trusted for address, protocol and host. */
  trustedProxies: number;
  /** Whether the server itself speaks TLS. */
  isTls: boolean;
  /** Whether `/` shows the demo. */
  isDemo: boolean;
  llm: {
    /** For companions without a model of their own. */
    model: string;
    /** The models that companions may choose; always includes `model`. */
    models: readonly string[];
    maxOutputTokens: number;
    /** Of instructions, message and conversation together. */
    maxContextTokens: number;
  };
  prices: Prices;
  /** Messages per day and companion, by plan. */
  dailyMessages: Readonly<Record<Plan, number>>;
  /** Voice sessions per day and companion, by plan. */
  dailyVoiceSessions: Readonly<Record<Plan, number>>;
  /** Limits for the API and the dashboard; the operator's commands are exempt. */
  holdings: HoldingsByPlan;
  metricsToken: string | null;
  /** Which accounts must have a second factor to use the dashboard. */
  requireTotp: TotpRequirement;
  /** Program version, shown in the API document and on `/healthz`. */
  version: string;
  /** Distinguishes the build's API document from others, behind the version; null where the document is asked. */
  apiStamp: string | null;
}

/** Reads sources in the background. */
export interface Indexing {
  /** Something was queued: checks immediately. Call it after the commit. */
  wake(): void;
}

export interface Services {
  readonly settings: Settings;
  readonly store: Store;
  readonly limiter: Limiter;
  readonly rules: RateRules;
  readonly coordination: Coordination;
  /** Running turns. Shutdown waits for them, since each still has to commit. */
  readonly openTurns: OpenTurns;
  /** Running replies that clients can come back to. */
  readonly replies: NamedReplies;
  /** Memory for the texts of long replies, named or not. */
  readonly replyMemory: SharedBudget;
  /** Memory for prompts that callers send whole, by account. */
  readonly promptMemory: SharedBudget;
  readonly llm: LlmProvider;
  readonly providerHealth: ProviderHealth;
  /** Which models are about to be shut down. */
  readonly modelDates: ModelDates;
  readonly voice: Voice;
  readonly announcements: Announcements;
  readonly people: PeopleService;
  readonly live: LiveHub;
  /** Last use and request counts of keys, tokens and sessions. */
  readonly uses: UseRecorder;
  /** Seals secrets in the store. */
  readonly sealing: Sealing;
  readonly visitors: Visitors;
  readonly challenges: Challenges;
  /** The other servers of the same database. */
  readonly instances: Instances;
  /** Requests to URLs that owners name. */
  readonly outgoing: OutgoingHttp;
  /** Reports to webhooks what has happened. */
  readonly events: EventDelivery;
  readonly mail: Mail;
  readonly signInAttempts: Attempts;
  /** Memory for the bodies of arriving transcripts. */
  readonly webhookBodies: BodyBudget;
  /** Memory for the bodies of batches, while they are worked off. */
  readonly batchBodies: BodyBudget;
  /** Memory for the bodies of uploads, until they are stored. */
  readonly uploadBodies: BodyBudget;
  readonly indexing: Indexing;
  readonly knowledge: KnowledgeFinder;
  /** Opens companions' tools. */
  readonly toolbox: Toolbox;
  readonly heartbeats: HeartbeatTicker;
  readonly measurements: Measurements;
  /** What parts of the server add to the report of `doctor`. */
  readonly selfChecks: SelfCheck[];
  readonly serverReports: ServerReports;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
  /** `isDraining` becomes true when the server starts to shut down. */
  readonly lifecycle: { isDraining: boolean };
}
