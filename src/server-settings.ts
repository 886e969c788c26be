/** What modules know of the configuration. */
import { buildInfo } from "./build-info.ts";
import type { Config } from "./config.ts";
import type { Settings } from "./dependencies.ts";
import { createPrices } from "./domain/prices.ts";
import { isLoopbackAddress } from "./lib/loopback.ts";

export function toSettings(config: Config): Settings {
  return {
    publicUrl: config.publicUrl,
    isLoopback: isLoopbackAddress(config.server.host),
    trustedProxies: config.server.trustProxy,
    isTls: config.server.tls !== null || config.server.acme !== null,
    isDemo: config.isDemo,
    llm: { model: config.llm.model, models: config.llm.models, maxOutputTokens: config.llm.maxOutputTokens },
    prices: createPrices(config.prices),
    dailyMessages: config.messagesPerDay,
    dailyVoiceSessions: config.voiceSessionsPerDay,
    holdings: config.holdings,
    metricsToken: config.metrics.token,
    requireTotp: config.requireTotp,
    version: buildInfo.version,
  };
}
