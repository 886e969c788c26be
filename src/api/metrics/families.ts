/** Names, descriptions and labels of the server's metrics, in the form of Prometheus. */

import type { Measurements, RouteCounts } from "../../core/metrics/measurements.ts";
import type { HistogramCounts } from "../../lib/histogram.ts";

export type Labels = Readonly<Record<string, string>>;

/** A counter if its name ends in `_total`, as the names of counters do, or else a gauge. */
export interface NumberFamily {
  name: string;
  help: string;
  samples: { labels: Labels; value: number }[];
}

export interface HistogramFamily {
  name: string;
  help: string;
  series: { labels: Labels; counts: HistogramCounts }[];
}

export type Family = NumberFamily | HistogramFamily;

export async function describeMeasurements(measurements: Measurements): Promise<Family[]> {
  const {
    streams,
    tokens,
    failedReplies,
    refusedCalls,
    reachedBudgets,
    providerCalls,
    verdicts,
    backups,
    backupsScheduledAtMs,
  } = measurements;
  // Unused routes would add hundreds of lines of zeros.
  const used = measurements.routes.filter((route) => route.statuses.size > 0);
  return [
    numbers(
      "companiond_requests_total",
      "Responses sent, by route and status.",
      used.flatMap((route) =>
        [...route.statuses].map(([status, value]) => [{ ...labelsOf(route), status: String(status) }, value] as const),
      ),
    ),
    histograms(
      "companiond_request_seconds",
      "Time to respond, by route; streamed replies are in companiond_stream_seconds.",
      used.map((route) => [labelsOf(route), route.seconds] as const),
    ),
    single("companiond_streams_open", "Replies being streamed now.", measurements.openStreams),
    numbers(
      "companiond_streams_total",
      "Streamed replies that ended: complete, broken (by the provider or the store), or left by the visitor.",
      Object.entries(streams).map(([outcome, value]) => [{ outcome }, value]),
    ),
    histograms("companiond_first_text_seconds", "From the request to the reply's first text.", [
      [{}, measurements.firstTextSeconds],
    ]),
    histograms("companiond_stream_seconds", "From the request to the stream's end.", [
      [{}, measurements.streamSeconds],
    ]),
    numbers(
      "companiond_tokens_total",
      "Tokens of replies, by direction; estimated where the provider did not count them.",
      (["input", "output"] as const).flatMap((direction) =>
        (["counted", "estimated"] as const).map((by) => [{ direction, by }, tokens[direction][by]] as const),
      ),
    ),
    numbers(
      "companiond_failed_replies_total",
      "Replies that failed or stayed incomplete because of the provider, by kind.",
      Object.entries(failedReplies).map(([kind, value]) => [{ kind }, value]),
    ),
    numbers(
      "companiond_refused_calls_total",
      "Provider calls that did not begin: stopped by the operator, over a budget, or without a price under one.",
      Object.entries(refusedCalls).map(([reason, value]) => [{ reason }, value]),
    ),
    numbers(
      "companiond_refused_configs_total",
      "Page views refused with 429, by the window that was full: the address, the embed token, or read, while work is asked.",
      Object.entries(measurements.refusedConfigs.counts).map(([window, value]) => [{ window }, value]),
    ),
    numbers(
      "companiond_budgets_reached_total",
      "Budgets whose limit was reached, once for each period, by what they do.",
      Object.entries(reachedBudgets).map(([action, value]) => [{ action }, value]),
    ),
    numbers(
      "companiond_webhook_attempts_total",
      "Attempts to deliver events: delivered, waiting for the next attempt, or failed for good, which disables the webhook.",
      Object.entries(measurements.deliveries).map(([outcome, value]) => [{ outcome }, value]),
    ),
    numbers(
      "companiond_mails_total",
      "Mails: sent, failed for good, or dropped because their account had its number of the day.",
      Object.entries(measurements.mails).map(([outcome, value]) => [{ outcome }, value]),
    ),
    numbers(
      "companiond_provider_calls_total",
      "Replies asked of each provider: complete, failed before the first text, broken after it, or left by the visitor.",
      [...providerCalls].flatMap(([provider, counts]) =>
        Object.entries(counts).map(([outcome, value]) => [{ provider, outcome }, value] as const),
      ),
    ),
    numbers(
      "companiond_limiter_verdicts_total",
      "Requests admitted and refused, by rule; daily is the quota of messages, daily_voice that of voice sessions.",
      Object.entries(verdicts).flatMap(([rule, { admitted, refused }]) => [
        [{ rule, verdict: "admitted" }, admitted] as const,
        [{ rule, verdict: "refused" }, refused] as const,
      ]),
    ),
    histograms("companiond_store_seconds", "Calls of the store, commits included.", [
      [{ kind: "read" }, measurements.storeReadSeconds],
      [{ kind: "write" }, measurements.storeWriteSeconds],
    ]),
    single(
      "companiond_store_failures_total",
      "Calls that failed because storage was unavailable.",
      measurements.storeFailures,
    ),
    histograms(
      "companiond_knowledge_seconds",
      "Searches of companions' knowledge: found, not_found, or small_talk, which asks nothing.",
      Object.entries(measurements.knowledgeSeconds).map(([outcome, seconds]) => [{ outcome }, seconds]),
    ),
    single(
      "companiond_knowledge_fallbacks_total",
      "Searches that were made by words alone, because the provider of embeddings failed or was late.",
      measurements.knowledgeFallbacks,
    ),
    histograms("companiond_handoff_wait_seconds", "From the ask for a person until someone took the conversation.", [
      [{}, measurements.handoffWaitSeconds],
    ]),
    histograms("companiond_event_loop_lag_seconds", "How late timers fire.", [[{}, measurements.eventLoopLagSeconds]]),
    numbers("companiond_backups_total", "Scheduled backups, by how they ended.", [
      [{ outcome: "succeeded" }, backups.succeeded],
      [{ outcome: "failed" }, backups.failed],
    ]),
    numbers(
      "companiond_backup_last_success_timestamp_seconds",
      "When the last scheduled backup of this process succeeded.",
      backups.lastSuccessAtMs === null ? [] : [[{}, backups.lastSuccessAtMs / 1000]],
    ),
    numbers(
      "companiond_backup_schedule_start_timestamp_seconds",
      "When this process began to make backups on a schedule.",
      backupsScheduledAtMs === null ? [] : [[{}, backupsScheduledAtMs / 1000]],
    ),
    ...describeBackupUploads(measurements),
    single(
      "companiond_untrusted_forwards_total",
      "Requests that a proxy forwarded while COMPANIOND_TRUST_PROXY is 0.",
      measurements.untrustedForwards,
    ),
    single("companiond_defects_total", "Unexpected failures; the log has them.", measurements.defects),
    ...(await readProbes(measurements)),
  ];
}

/** Nothing where scheduled backups are not uploaded. */
function describeBackupUploads({ backupUploads, uploadsScheduledAtMs }: Measurements): Family[] {
  if (uploadsScheduledAtMs === null) return [];
  const { succeeded, failed, lastSuccessAtMs } = backupUploads;
  return [
    numbers("companiond_backup_uploads_total", "Uploads of scheduled backups, by how they ended.", [
      [{ outcome: "succeeded" }, succeeded],
      [{ outcome: "failed" }, failed],
    ]),
    numbers(
      "companiond_backup_upload_last_success_timestamp_seconds",
      "When the last upload of this process succeeded.",
      lastSuccessAtMs === null ? [] : [[{}, lastSuccessAtMs / 1000]],
    ),
    numbers(
      "companiond_backup_upload_schedule_start_timestamp_seconds",
      "When this process began to upload scheduled backups.",
      [[{}, uploadsScheduledAtMs / 1000]],
    ),
  ];
}

async function readProbes({ probes }: Measurements): Promise<NumberFamily[]> {
  const byName = new Map<string, NumberFamily>();
  for (const probe of probes) {
    const { name, help, labels = {} } = probe;
    const family = byName.get(name) ?? { name, help, samples: [] };
    byName.set(name, family);
    const value = await probe.read();
    if (value !== null) family.samples.push({ labels, value });
  }
  return [...byName.values()];
}

function labelsOf({ method, route }: RouteCounts): Labels {
  return { method, route };
}

function numbers(name: string, help: string, samples: readonly (readonly [Labels, number])[]): NumberFamily {
  return { name, help, samples: samples.map(([labels, value]) => ({ labels, value })) };
}

function single(name: string, help: string, value: number): NumberFamily {
  return numbers(name, help, [[{}, value]]);
}

function histograms(
  name: string,
  help: string,
  series: readonly (readonly [Labels, HistogramCounts])[],
): HistogramFamily {
  return { name, help, series: series.map(([labels, counts]) => ({ labels, counts })) };
}
