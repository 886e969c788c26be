/** Watches for models that their providers are about to shut down: asks each provider after the start and once a day. */
import type { RetiringModel, ShutdownDates } from "../../domain/model-dates.ts";
import { nameAnswerer } from "../../domain/model-routes.ts";
import type { Answerer } from "../../domain/usage.ts";
import type { Log } from "../../lib/log.ts";
import type { Measurements } from "./measurements.ts";

export interface ModelDates {
  /** Begins to ask. Without it nothing is ever asked. */
  start(): void;
  /** Of the models that companions can be answered by, those that have a date; the earliest first. */
  list(): readonly RetiringModel[];
  stop(): void;
}

export interface ModelDatesOptions {
  /** The providers that may be asked for a reply. */
  answerers: readonly Answerer[];
  /** Null where the provider gives no list. */
  ask(provider: string, signal: AbortSignal): Promise<ShutdownDates | null>;
  log: Log;
  measurements: Pick<Measurements, "probes">;
  /** The first visitors must not wait for it. */
  firstMs?: number | undefined;
  intervalMs?: number;
}

/** For each provider. */
const limitMs = 10_000;

export function createModelDates(options: ModelDatesOptions): ModelDates {
  const { answerers, ask, log, measurements, firstMs = 5_000, intervalMs = 24 * 60 * 60_000 } = options;
  const stopping = new AbortController();
  const known = new Map<string, RetiringModel>();
  /** Those that publish no dates are not asked again. */
  const asked = new Set(answerers.map(({ provider }) => provider));
  let timer: ReturnType<typeof setTimeout> | undefined;
  measurements.probes.push(
    ...answerers.map(({ provider, model }) => ({
      name: "companiond_model_shutdown_timestamp_seconds",
      help: "When the provider shuts down a model that replies come from.",
      labels: { provider, model },
      read() {
        const date = known.get(nameAnswerer({ provider, model }))?.shutdownDate;
        return date === undefined ? null : Date.parse(date) / 1000;
      },
    })),
  );

  function arm(delayMs: number): void {
    timer = setTimeout(() => {
      void askAll().finally(() => {
        if (!stopping.signal.aborted) arm(intervalMs);
      });
    }, delayMs);
    timer.unref();
  }

  async function askAll(): Promise<void> {
    await Promise.all([...asked].map(askOne));
    for (const { provider, model, shutdownDate } of list()) {
      log.warn("model shuts down", { provider, model, shutdown_date: shutdownDate });
    }
  }

  /** Never rejects: a provider that cannot be asked fails in replies, which report it. */
  async function askOne(provider: string): Promise<void> {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(limitMs)]);
    const found = await ask(provider, signal).catch(() => null);
    if (found === null) return;
    if (!found.knowsDates) asked.delete(provider);
    for (const answerer of answerers.filter((one) => one.provider === provider)) {
      const shutdownDate = found.byModel.get(answerer.model);
      if (shutdownDate === undefined) known.delete(nameAnswerer(answerer));
      else known.set(nameAnswerer(answerer), { ...answerer, shutdownDate });
    }
  }

  function list(): readonly RetiringModel[] {
    return [...known.values()].sort((a, b) => a.shutdownDate.localeCompare(b.shutdownDate));
  }

  return {
    start: () => arm(firstMs),
    list,
    stop() {
      stopping.abort();
      clearTimeout(timer);
    },
  };
}
