/** What a running server reports to its operator: what it runs with, without a secret, and what its checks find. */
import type { OpenedServices } from "../../app/services.ts";
import type { Config } from "../../config/config.ts";
import { listRefusedConfigs } from "../../core/metrics/refused-configs.ts";
import type { Finding } from "../../domain/finding.ts";
import { plainProviderName } from "../../domain/model-routes.ts";
import type { ServerFacts, ServerReport } from "../../domain/server-report.ts";
import { buildInfo } from "../../lib/build-info.ts";
import { toNullableRfc3339, toRfc3339 } from "../../lib/clock.ts";
import { redact } from "../../lib/log.ts";
import { findUserName } from "../../lib/user-name.ts";
import type { RunningServer } from "../../server/server.ts";
import { findWeakness } from "../data-rights.ts";
import { nameDatabase } from "../database-name.ts";
import { judgeCertificate } from "../doctor/certificates.ts";
import { ok, warn } from "../doctor/finding.ts";
import { examineDefaultModel } from "../doctor/models.ts";
import { listChecks, runChecks } from "../doctor/small-checks.ts";
import { protocol } from "./protocol.ts";

export interface AskedServer {
  config: Config;
  services: OpenedServices;
  server: RunningServer;
  startedMs: number;
}

export function createAnswers({ config, services, server, startedMs }: AskedServer) {
  const { clock, lifecycle, openTurns, measurements, selfChecks, certificates } = services;

  function describe(): ServerFacts {
    const { lastSuccessAtMs, ...counts } = measurements.backups;
    const { cron, dir, keep } = config.backup;
    return {
      protocol,
      version: buildInfo.version,
      commit: buildInfo.commit,
      pid: process.pid,
      started_at: toNullableRfc3339(startedMs),
      uptime_seconds: Math.round(process.uptime()),
      user: findUser(),
      data_dir: config.dataDir,
      storage: { engine: config.database === null ? "embedded" : "postgresql", database: nameDatabase(config) },
      redis: config.redisUrl === null ? null : new URL(config.redisUrl).host,
      listening: [server.url],
      metrics_url: server.metricsUrl,
      public_url: config.publicUrl,
      language_model: describeModels(config),
      voice: config.voice.apiKey === null ? null : { base_url: withoutSecrets(config.voice.baseUrl), has_key: true },
      backups: { cron, dir, keep, ...counts, last_success_at: toNullableRfc3339(lastSuccessAtMs) },
      certificate:
        server.certificateExpiryMs === null ? null : { expires_at: toNullableRfc3339(server.certificateExpiryMs) },
      settings: config.given,
      is_draining: lifecycle.isDraining,
      open_replies: openTurns.size,
    };
  }

  /** What is on the disk is reported by `doctor` itself. */
  function judgeBackups(): Finding[] {
    const { failed, succeeded } = measurements.backups;
    if (failed === 0) return [];
    const detail = `${failed} of the ${failed + succeeded} backups that were due since the server started have failed.`;
    return [warn("backups", detail, 'The log has the reason: look for "backup failed".')];
  }

  /** By its own rights: root, who may ask, has others. */
  function judgeDirectory(): Finding {
    const name = "data directory";
    const weakness = findWeakness(config.dataDir);
    if (weakness !== null) return warn(name, weakness.sentence, weakness.advice);
    return ok(name, `${config.dataDir} belongs to the server's user.`);
  }

  function judgePageViews(): Finding[] {
    return listRefusedConfigs(measurements, services.rules, clock.nowMs()).map(({ detail, advice, sinceMs, lastMs }) =>
      warn("page views", `${detail} First: ${toRfc3339(sinceMs)}, last: ${toRfc3339(lastMs)}.`, advice),
    );
  }

  function judgeDomains(): Finding[] {
    return certificates === null ? [] : [judgeCertificate(certificates.state, clock.nowMs())];
  }

  const ownChecks = [
    { name: "data directory", check: judgeDirectory },
    { name: "backups", check: judgeBackups },
    { name: "certificate", check: judgeDomains },
    { name: "page views", check: judgePageViews },
    { name: "prices", check: () => examineDefaultModel(config, () => services.store.spending.hasStopBudgets()) },
  ];

  return {
    describe,
    async check(): Promise<ServerReport> {
      services.log.info("checking what the server runs with");
      // The port that it has, not the 0 that may have been asked for.
      const actual = { ...config, server: { ...config.server, port: server.port } };
      const checks = listChecks(actual, clock.nowMs(), {
        servedUntilMs: server.certificateExpiryMs,
        untrustedForwards: measurements.untrustedForwards,
      });
      const findings = await runChecks([...checks, ...ownChecks, ...selfChecks]);
      return { ...describe(), findings: findings.map(toRedacted) };
    },
  };
}

function describeModels({ llm }: Config): ServerFacts["language_model"] {
  const plain = { name: plainProviderName, base_url: withoutSecrets(llm.baseUrl), has_key: llm.apiKey !== null };
  const isDemo = llm.apiKey === null && llm.baseUrl === null && llm.providers.length === 0;
  const hasPlain = llm.apiKey !== null || llm.baseUrl !== null;
  const named = llm.providers.map(({ name, baseUrl, apiKey }) => ({
    name,
    base_url: withoutSecrets(baseUrl),
    has_key: apiKey !== null,
  }));
  return {
    is_demo: isDemo,
    providers: [...(hasPlain ? [plain] : []), ...named],
    default_model: llm.model,
    models: llm.models,
    embedding_model: llm.embeddingModel,
  };
}

/** Null is OpenAI itself. */
function withoutSecrets(baseUrl: string | null): string {
  if (baseUrl === null) return "https://api.openai.com/v1";
  const { origin, pathname } = new URL(baseUrl);
  return origin + pathname.replace(/\/$/, "");
}

function findUser(): { uid: number | null; name: string | null } {
  const uid = process.geteuid?.() ?? null;
  return { uid, name: uid === null ? null : findUserName(uid) };
}

function toRedacted(finding: Finding): Finding {
  const { detail, advice } = finding;
  return { ...finding, detail: redact(detail), advice: advice === null ? null : redact(advice) };
}
