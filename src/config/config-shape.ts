/** What the configuration is, with the meaning of each part. */
import type { StoragePlace } from "../contracts/backup-storage.ts";
import type { RateSettings } from "../contracts/limiter/rules.ts";
import type { HoldingsByPlan, Plan } from "../domain/account.ts";
import type { JsonObject } from "../domain/companion.ts";
import type { LlmApi } from "../domain/llm-api.ts";
import type { ModelRoutes } from "../domain/model-routes.ts";
import type { PriceList } from "../domain/prices.ts";
import type { ReasoningEffort } from "../domain/reasoning.ts";
import type { TotpRequirement } from "../domain/second-factor.ts";
import type { AllowedHost } from "../lib/allowed-hosts.ts";
import type { LogLevel } from "../lib/log.ts";
import type { GivenSetting } from "./given.ts";
import type { NamedProvider } from "./providers.ts";
import type { SupervisorFacts } from "./supervisor.ts";

export interface AcmeConfig {
  /** In lower case; the first is the one in the public URL. */
  readonly domains: readonly string[];
  readonly email: string | null;
  /** The URL of the authority's directory. */
  readonly directory: string;
  /** For challenges and redirects. */
  readonly httpPort: number;
}

/** Where backups are uploaded, and how. */
export interface BackupStorageConfig extends StoragePlace {
  /** Uploads are encrypted to this age public key; null for none. */
  readonly ageRecipient: string | null;
}

export interface Config {
  readonly server: {
    readonly host: string;
    readonly port: number;
    /** Paths of PEM files, or null for plain HTTP, and where certificates are obtained. */
    readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
    /** Certificates obtained by ACME; null unless domains are given. Then `port` is that of HTTPS. Never with `tls`. */
    readonly acme: AcmeConfig | null;
    /** Number of trusted proxies in front of the server. */
    readonly trustProxy: number;
  };
  /** An absolute path. */
  readonly dataDir: string;
  /**
   * PostgreSQL, or null for a file in the data directory. `url` names host and database, and holds the password. Pass
   * the database's name to the driver separately: otherwise PGDATABASE would overrule the URL.
   */
  readonly database: { readonly url: string; readonly pool: number; readonly poolHeavy: number } | null;
  /** With the password, or null for counting in memory. Never set without `database`. */
  readonly redisUrl: string | null;
  /** Where other instances reach this one, as an origin; null for the address that it listens on. Unused without `database`. */
  readonly instanceUrl: string | null;
  /** An origin without a trailing slash, or null: then it is derived from each request. */
  readonly publicUrl: string | null;
  /** Whether `serve` keeps a demo companion. */
  readonly isDemo: boolean;
  readonly llm: {
    /** With neither a key nor a base URL, the demo provider is used. */
    readonly apiKey: string | null;
    /** Without a trailing slash; null means OpenAI itself. */
    readonly baseUrl: string | null;
    readonly model: string;
    /** The models that companions may choose, `model` first. */
    readonly models: readonly string[];
    readonly maxOutputTokens: number;
    /** Of instructions, message and conversation together. */
    readonly maxContextTokens: number;
    /** Of the provider of the plain settings; null: knowledge is found by words alone. */
    readonly embeddingModel: string | null;
    /** For the provider of the plain settings alone. */
    readonly api: LlmApi;
    /** For requests that name none, of every provider without one of its own; null leaves it to the API. */
    readonly reasoningEffort: ReasoningEffort | null;
    /** Added to the bound of a reply for models that think. */
    readonly reasoningTokens: number;
    /** For the provider of the plain settings alone. */
    readonly extra: JsonObject;
    /** Added to its requests; values can be secrets. For the provider of the plain settings alone. */
    readonly headers: Readonly<Record<string, string>>;
    /** An absolute path, or null without further providers. */
    readonly providersFile: string | null;
    readonly providers: readonly NamedProvider[];
    readonly aliases: ModelRoutes["aliases"];
  };
  readonly prices: PriceList;
  readonly voice: {
    readonly apiKey: string | null;
    readonly baseUrl: string;
    readonly webhookSecret: string | null;
  };
  readonly knowledge: {
    /** What sources may be read from besides public hosts. */
    readonly privateSources: readonly AllowedHost[];
  };
  /** What requests to URLs of owners' may go to besides public hosts, over http too. */
  readonly privateTargets: readonly AllowedHost[];
  readonly rates: RateSettings;
  /** Concurrent chat streams per client address. */
  readonly streamsPerIp: number;
  readonly messagesPerDay: ByPlan;
  readonly voiceSessionsPerDay: ByPlan;
  readonly holdings: HoldingsByPlan;
  /** As given: 32 bytes in base64, or null if the key is in a file in the data directory. */
  readonly secretKey: string | null;
  readonly requireTotp: TotpRequirement;
  readonly metrics: { readonly token: string | null; readonly port: number | null };
  readonly backup: {
    readonly cron: string | null;
    readonly dir: string;
    readonly keep: number;
    /** Null: backups stay on this machine. */
    readonly storage: BackupStorageConfig | null;
  };
  /** Where `update` looks, and the public key (32 bytes in base64) in place of the one in the executable. */
  readonly releases: { readonly url: string | null; readonly key: string | null };
  readonly log: { readonly level: LogLevel };
  /** What somebody has set, without the values. */
  readonly given: readonly GivenSetting[];
  readonly supervisor: SupervisorFacts;
  /** Sentences about what was given and has no effect; for the log of `serve` and for `doctor`. */
  readonly warnings: readonly string[];
}

export type ByPlan = Readonly<Record<Plan, number>>;

export type ReadModels = Pick<Config["llm"], "model" | "models" | "providersFile" | "providers" | "aliases"> &
  Pick<Config, "prices">;
