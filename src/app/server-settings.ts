/** What modules know of the configuration. */
import type { Config } from "../config/config.ts";
import type { Settings } from "../core/dependencies.ts";
import { createPrices } from "../domain/prices.ts";
import { hostOf } from "../lib/allowed-hosts.ts";
import { buildInfo } from "../lib/build-info.ts";
import { isLoopbackAddress } from "../lib/loopback.ts";

export function toSettings(config: Config): Settings {
  return {
    publicUrl: config.publicUrl,
    otherUrls: listOtherUrls(config),
    isLoopback: isLoopbackAddress(config.server.host),
    trustedProxies: config.server.trustProxy,
    isTls: config.server.tls !== null || config.server.acme !== null,
    isDemo: config.isDemo,
    llm: {
      model: config.llm.model,
      models: config.llm.models,
      maxOutputTokens: config.llm.maxOutputTokens,
      maxContextTokens: config.llm.maxContextTokens,
    },
    prices: createPrices(config.prices),
    dailyMessages: config.messagesPerDay,
    dailyVoiceSessions: config.voiceSessionsPerDay,
    holdings: config.holdings,
    metricsToken: config.metrics.token,
    requireTotp: config.requireTotp,
    version: buildInfo.version,
    apiStamp: buildInfo.apiStamp,
  };
}

/** Of the domains, on the port of the public URL: a router may pass another one on to ours. */
function listOtherUrls({ publicUrl, server: { acme, port } }: Config): string[] {
  const { hostname = "", port: publicPort = "" } = publicUrl === null ? {} : new URL(publicUrl);
  const domains = acme?.domains ?? [];
  const visiblePort = domains.includes(hostname) ? publicPort : String(port);
  const urls = domains.map((domain) => new URL(`https://${domain}:${visiblePort || 443}`).origin);
  return urls.filter((url) => url !== publicUrl);
}

/** Names under which this server is reached, as in a URL. */
export function ownHostsOf({ publicUrl, server: { acme } }: Config): string[] {
  return [...(publicUrl === null ? [] : [hostOf(new URL(publicUrl))]), ...(acme?.domains ?? [])];
}
