/** The language models of a server: who answers, how each does, and which are about to be shut down. */
import type { Config } from "../config/config.ts";
import { findLocation } from "../config/providers.ts";
import type { Measurements } from "../core/metrics/measurements.ts";
import { createModelDates } from "../core/metrics/model-dates.ts";
import { createProviderHealth, watchProvider } from "../core/metrics/provider-health.ts";
import { listReplyAnswerers } from "../domain/model-routes.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { openEmbeddings, openLlm } from "./llm.ts";
import { checkProviders } from "./provider-checks.ts";

interface ModelParts {
  readonly log: Log;
  readonly clock: Clock;
  readonly measurements: Measurements;
  /** As in `ServiceOverrides.modelDatesAfterMs`. */
  readonly datesAfterMs: number | undefined;
}

export function openModels(config: Config["llm"], { log, clock, measurements, datesAfterMs }: ModelParts) {
  const { calls, providerHealth } = createProviderHealth({
    findLocation: (name) => findLocation(config, name),
    nowMs: () => clock.nowMs(),
    measurements,
  });
  const { llm, tellsCalls, probes } = openLlm(config, { log, calls, clock });
  const modelDates = createModelDates({
    ask: (provider, signal) => checkProviders.shutdownDates(config, provider, signal),
    answerers: listReplyAnswerers(config),
    ...{ log, measurements },
    firstMs: datesAfterMs,
  });
  return {
    llm: watchProvider(llm, { measurements, calls: tellsCalls ? null : calls }),
    embeddings: openEmbeddings(config, { log }),
    ...{ modelDates, providerHealth, probes },
  };
}
