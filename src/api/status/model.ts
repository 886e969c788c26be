/** The server's state on the wire. */

import type { SilentModel } from "../../core/metrics/provider-health.ts";
import type { RefusedConfigHint } from "../../core/metrics/refused-configs.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import type { Status } from "./responses.ts";
import type { CountedRetiringModel } from "./service.ts";

export function toWireSilentModel({
  model,
  kind,
  detail,
  advice,
  replies,
  sinceMs,
  lastMs,
}: SilentModel): Status["silent_models"][number] {
  return { model, kind, detail, advice, replies, since: toRfc3339(sinceMs), last_at: toRfc3339(lastMs) };
}

export function toWireRetiringModel({
  provider,
  model,
  shutdownDate,
  companions,
}: CountedRetiringModel): Status["retiring_models"][number] {
  return { provider, model, shutdown_date: shutdownDate, companions };
}

export function toWireRefusedConfig({
  window,
  detail,
  advice,
  count,
  sinceMs,
  lastMs,
}: RefusedConfigHint): Status["refused_configs"][number] {
  return { window, detail, advice, count, since: toRfc3339(sinceMs), last_at: toRfc3339(lastMs) };
}
