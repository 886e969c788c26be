/** Judges the models that are asked for replies: whether their provider shuts them down, and whether the default has a price. */
import { checkProviders } from "../../app/provider-checks.ts";
import { storageOf } from "../../app/services.ts";
import type { Config } from "../../config/config.ts";
import { findLocation } from "../../config/providers.ts";
import { AppError } from "../../domain/errors.ts";
import { listReplyAnswerers } from "../../domain/model-routes.ts";
import { nameModel, nameProvider } from "../../domain/reply-failure.ts";
import { toUtcDay } from "../../lib/clock.ts";
import { describeUnpricedDefault, isDefaultUnpriced } from "../warnings.ts";
import { type Finding, fail, warn } from "./finding.ts";

const limitMs = 10_000;

/** Nothing of models without a date, and of providers that give none. */
export async function examineShutdownDates(config: Config, nowMs: number): Promise<Finding[]> {
  const answerers = listReplyAnswerers(config.llm);
  const providers = [...new Set(answerers.map(({ provider }) => provider))];
  const today = toUtcDay(nowMs);
  const found = await Promise.all(
    providers.map(async (provider) => {
      const dates = await askDates(config, provider);
      return answerers.flatMap(({ provider: owner, model }) => {
        const date = owner === provider ? dates?.byModel.get(model) : undefined;
        return date === undefined ? [] : [judgeDate(config, { provider, model, date, today })];
      });
    }),
  );
  return found.flat();
}

/** Whether it can be asked at all is another check's matter. */
async function askDates({ llm }: Config, provider: string) {
  return await checkProviders.shutdownDates(llm, provider, AbortSignal.timeout(limitMs)).catch(() => null);
}

interface DatedModel {
  provider: string;
  model: string;
  date: string;
  today: string;
}

function judgeDate(config: Config, { provider, model, date, today }: DatedModel): Finding {
  const location = findLocation(config.llm, provider);
  const advice =
    location.named !== null
      ? `Name another model instead of it in ${location.named.file}.`
      : model === config.llm.model
        ? "Set COMPANIOND_MODEL to another model."
        : "Take it out of COMPANIOND_MODELS: its companions then use COMPANIOND_MODEL.";
  const isPast = date <= today;
  const detail = `${nameModel(model, location.named)} ${isPast ? "was shut down" : "will be shut down"} on ${date}, according to ${nameProvider(location.baseUrl)}.`;
  return isPast ? fail("model", detail, advice) : warn("model", detail, advice);
}

/** Of a database that no server has open; why it cannot be read is reported by another check. */
export async function hasStopBudgets(config: Config): Promise<boolean> {
  const storage = storageOf(config);
  try {
    const facts = (await storage.inspect?.()) ?? storage.inspectStored?.();
    return facts?.hasStopBudgets === true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/** `isStopping` is asked only where the answer matters. */
export async function examineDefaultModel(config: Config, isStopping: () => Promise<boolean>): Promise<Finding[]> {
  if (!isDefaultUnpriced(config) || !(await isStopping())) return [];
  const { detail, advice } = describeUnpricedDefault(config);
  return [fail("prices", detail, advice)];
}
