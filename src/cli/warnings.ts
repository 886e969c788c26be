/** The warnings about settings that serve badly, at start and by `doctor`. */
import type { Config } from "../config/config.ts";
import { defaultModel } from "../config/provider-settings.ts";
import { type ConfinementObstacle, findConfinementObstacle } from "../core/knowledge/reading/confinement.ts";
import { findAnswerers, nameAnswerer, plainProviderName } from "../domain/model-routes.ts";
import { createPrices, findIdlePrices } from "../domain/prices.ts";
import type { Answerer } from "../domain/usage.ts";
import type { Log } from "../lib/log.ts";
import { isLoopbackAddress, isLoopbackHost } from "../lib/loopback.ts";

interface Unconfined {
  /** Part of a sentence. */
  why: string;
  advice: string;
}

const otherwise = "Or add only documents that you trust.";
const descriptions: Readonly<Record<ConfinementObstacle, Unconfined>> = {
  platform: {
    why: "there is none for this system",
    advice: `Run the server on Linux on x64 or arm64. ${otherwise}`,
  },
  filter: {
    why: "the filter of system calls that the server runs under does not allow seccomp",
    advice:
      "Under systemd, use the current unit, or add SystemCallFilter=seccomp to yours; in a container, let its profile " +
      `allow seccomp. ${otherwise}`,
  },
  kernel: {
    why: "the kernel does not allow it",
    advice: `Use a kernel with CONFIG_SECCOMP_FILTER. ${otherwise}`,
  },
};

/** For what has been found to be so. */
export function describeUnconfined(): Unconfined {
  return descriptions[findConfinementObstacle() ?? "kernel"];
}

/** Takes less than a millisecond; what only the first process would find is in the report of `doctor`. */
export function warnIfUnconfined(log: Pick<Log, "warn">): void {
  const obstacle = findConfinementObstacle();
  if (obstacle === null) return;
  const { why, advice } = descriptions[obstacle];
  log.warn("documents are read in processes without confinement", { why, advice });
}

/**
 * Under a budget that stops calls, what has no price is refused: an update that changes the default would silence
 * every companion. Whether no model is named, and the default cannot be priced.
 */
export function isDefaultUnpriced({ llm, prices }: Pick<Config, "llm" | "prices">): boolean {
  if (llm.model !== defaultModel || (llm.apiKey === null && llm.baseUrl === null)) return false;
  const { findTokenPrice } = createPrices(prices);
  return findAnswerers(llm, llm.model).some((answerer) => findTokenPrice(answerer) === null);
}

export function describeUnpricedDefault({ llm }: Pick<Config, "llm">): { detail: string; advice: string } {
  return {
    detail: `${llm.model}, the default model, has no price, and there is a budget that stops calls: every reply of it is refused.`,
    advice: "Add its price to COMPANIOND_PRICES, or set COMPANIOND_MODEL to a model that has one.",
  };
}

const voiceProviders = ["elevenlabs"];

/** Everyone who may answer for a model that companions may choose, and who embeds. */
export function listAnswerers({ llm }: Pick<Config, "llm">): Answerer[] {
  const all = llm.models.flatMap((model) => findAnswerers(llm, model));
  if (llm.embeddingModel !== null) all.push({ provider: plainProviderName, model: llm.embeddingModel });
  return [...new Map(all.map((one) => [nameAnswerer(one), one])).values()];
}

/** As the operator wrote them. */
export function listIdlePrices(config: Pick<Config, "llm" | "prices">): string[] {
  return findIdlePrices(config.prices, listAnswerers(config), voiceProviders);
}

type Settings = Pick<Config, "isDemo" | "llm" | "publicUrl" | "server">;

export const modelSettings = "OPENAI_API_KEY, OPENAI_BASE_URL or COMPANIOND_PROVIDERS_FILE";

/**
 * No one should take the demo for a language model. `refused`: others than this machine would get it, and no one has
 * asked for it. `behind_proxy`: only this machine reaches it, but passes on requests of others. Null: there is a
 * model, or the demo is wanted or seen here alone.
 */
export function judgeDemo({ isDemo, llm, publicUrl, server }: Settings): "refused" | "behind_proxy" | null {
  const hasModel = llm.apiKey !== null || llm.baseUrl !== null || llm.providersFile !== null;
  if (hasModel || isDemo) return null;
  if (server.acme !== null || !isLoopbackAddress(server.host)) return "refused";
  const isPublic = publicUrl !== null && !isLoopbackHost(new URL(publicUrl).host);
  return isPublic || server.trustProxy > 0 ? "behind_proxy" : null;
}

export function describeRefusal({ server: { acme, host } }: Pick<Settings, "server">): string {
  const address = acme?.domains[0] ?? host;
  return (
    `no language model is configured, and the built-in demo would answer everyone who reaches ${address}. ` +
    `Set ${modelSettings}; or add --demo if that is what you want.`
  );
}

/**
 * Whether the public URL is missing where the server needs it. Off loopback or behind a proxy, the server's address
 * in requests cannot be trusted.
 */
export function lacksPublicUrl({ publicUrl, server }: Pick<Config, "publicUrl" | "server">): boolean {
  return publicUrl === null && (server.trustProxy > 0 || !isLoopbackAddress(server.host));
}

export const withoutPublicUrl =
  "the hosted pages of companions with allowed_origins are refused, and neither reset links nor the embed snippet are available";
