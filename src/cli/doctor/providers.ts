/** Checks the language model, the voice provider and the clock. */
import { checkProviders } from "../../app/provider-checks.ts";
import type { Config } from "../../config/config.ts";
import { findLocation } from "../../config/providers.ts";
import { nameAnswerer } from "../../domain/model-routes.ts";
import { createPrices } from "../../domain/prices.ts";
import { describeSilentModel, nameModel, nameProvider } from "../../domain/reply-failure.ts";
import { buildInfo } from "../../lib/build-info.ts";
import { redact } from "../../lib/log.ts";
import { judgeDemo, listAnswerers, listIdlePrices, modelSettings } from "../warnings.ts";
import { describeFailure, type Finding, fail, off, ok, warn } from "./finding.ts";

const wireNames = { chat: "Chat Completions", responses: "the Responses API" } as const;
const clockToleranceMs = 30_000;
const limitMs = 5_000;

export async function examineLlm(config: Config): Promise<Finding[]> {
  const name = "language model";
  const found = await checkProviders.llm(config);
  if (found === "demo") return [describeDemo(name, config)];
  return found.map(({ answerer: { provider, model }, kind, detail: reason, wire, effort }) => {
    const location = findLocation(config.llm, provider);
    const asked = `${wireNames[wire]}${effort === null ? "" : ` with the effort ${effort}`}`;
    if (kind === null) {
      return ok(
        name,
        `${nameModel(model, location.named)} answers at ${nameProvider(location.baseUrl)} over ${asked}.`,
      );
    }
    const { detail, advice } = describeSilentModel(model, location, kind, redact(reason ?? "no reason given"));
    return fail(name, `${detail} (asked over ${asked})`, advice);
  });
}

function describeDemo(name: string, config: Config): Finding {
  const standing = judgeDemo(config);
  if (standing === "refused") {
    const detail = `None is configured: serve does not start on ${config.server.host}.`;
    return fail(name, detail, `Set ${modelSettings}; or start it with --demo to have the built-in demo reply.`);
  }
  const whom = standing === "behind_proxy" ? " to everyone whom the proxy lets through" : "";
  return warn(name, `None is configured: the built-in demo replies${whom}.`, `Set ${modelSettings}.`);
}

/** Nothing where none are wanted. */
export async function examineEmbeddings(config: Config): Promise<Finding[]> {
  const name = "embeddings";
  const { embeddingModel: model, baseUrl } = config.llm;
  if (model === null) return [];
  try {
    const found = await checkProviders.embeddings(config, AbortSignal.timeout(4 * limitMs));
    const where = nameProvider(baseUrl);
    return [ok(name, `${model} answers at ${where} with ${found?.dimensions ?? 0} dimensions.`)];
  } catch (error) {
    const { cause } = error instanceof Error ? error : {};
    const reason = redact(describeFailure(cause ?? error));
    return [fail(name, `${model} does not answer: ${reason}.`, "Check COMPANIOND_EMBEDDING_MODEL.")];
  }
}

/** Nothing where nothing is priced. */
export function examinePrices(config: Config): Finding[] {
  const name = "prices";
  const { tokens, minutes } = config.prices;
  if (tokens.length + minutes.length === 0) return [];
  const idle = listIdlePrices(config);
  if (idle.length > 0) {
    const advice = "Correct the names in COMPANIOND_PRICES, or remove them.";
    return [warn(name, `No configured provider serves the models of these prices: ${idle.join(", ")}.`, advice)];
  }
  const prices = createPrices(config.prices);
  const unpriced = listAnswerers(config).filter((answerer) => prices.findTokenPrice(answerer) === null);
  if (unpriced.length === 0) return [ok(name, "Every model has a price.")];
  const detail = `These models have none, so their cost is unknown: ${unpriced.map(nameAnswerer).join(", ")}.`;
  return [warn(name, detail, "Add them to COMPANIOND_PRICES: a budget that stops refuses calls to them.")];
}

export async function examineVoice(config: Config): Promise<Finding> {
  const name = "voice provider";
  if (config.voice.apiKey === null) return off(name, "None is configured: companions have no voice.");
  try {
    await checkProviders.voice(config, AbortSignal.timeout(2 * limitMs));
    return ok(name, "It accepts the key.");
  } catch (error) {
    return fail(name, redact(describeFailure(error)), "Check ELEVENLABS_API_KEY.");
  }
}

/** Compares with the build time, and with the provider's clock if there is a provider. */
export async function examineClock({ llm, publicUrl }: Config, nowMs: number): Promise<Finding> {
  const name = "clock";
  const advice = "Set the clock, and keep it set with NTP: quotas, sessions and signed URLs rely on it.";
  const now = new Date(nowMs).toISOString();
  if (buildInfo.builtAt !== null && nowMs < Date.parse(buildInfo.builtAt)) {
    return fail(name, `It says ${now}, which is earlier than the build of this program.`, advice);
  }
  const named = llm.providers[0]?.baseUrl ?? publicUrl;
  const reference = llm.baseUrl ?? (llm.apiKey === null ? named : "https://api.openai.com");
  const otherMs = reference === null ? null : await askTime(reference);
  if (otherMs === null) return ok(name, `It says ${now}; there was nothing to compare it with.`);
  const offMs = nowMs - otherMs;
  const detail = `It says ${now}, ${Math.abs(Math.round(offMs / 1000))} s off ${new URL(reference ?? "").host}.`;
  return Math.abs(offMs) > clockToleranceMs ? fail(name, detail, advice) : ok(name, detail);
}

async function askTime(url: string): Promise<number | null> {
  try {
    const response = await fetch(url, { method: "HEAD", signal: AbortSignal.timeout(limitMs) });
    const date = response.headers.get("date");
    return date === null ? null : Date.parse(date);
  } catch {
    return null;
  }
}
