/** `/api/server`: how the running server is, and whether a model answers. For operators. */
import { Type as t } from "@sinclair/typebox";
import type { Services } from "../../core/dependencies.ts";
import { AppError, invalidFields } from "../../domain/errors.ts";
import type { Finding } from "../../domain/finding.ts";
import type { ServerReport } from "../../domain/server-report.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { jsonBody } from "../../http/json-body.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { compileChecker, Text } from "../../http/schemas/schema.ts";
import { whileSilent } from "../../http/stream-response.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { type Server, ServerObject, TestedModelObject } from "./responses.ts";
import { testModel } from "./test-model.ts";

const testModelBody = compileChecker(() =>
  t.Object(
    { model: Text({ maxLength: 200, description: "One that the server offers.", examples: ["gpt-6-luna"] }) },
    { $id: "TestModel" },
  ),
);

/** The checks ask providers, and one of them is paid for a word. */
const keptMs = 60_000;
const gravest = ["fail", "warn", "ok"];

/** What is not set up comes last. */
const rankOf = ({ status, is_off }: Finding) => gravest.indexOf(status) + Number(is_off === true);

interface Checks {
  readonly running: Promise<ServerReport>;
  /** Null while they run. */
  endedMs: number | null;
}

/** By the reports of the server, of which tests have several in a process. */
const lastChecks = new WeakMap<Services["serverReports"], Checks>();

/** Of the last minute, or under way, or made now. Nothing waits before they are noted: those who ask together share them. */
async function readReport({ serverReports, clock }: Services): Promise<{ report: ServerReport; atMs: number }> {
  const { check } = serverReports;
  if (check === null) throw new AppError("unavailable", "This server can't examine itself.");
  const last = lastChecks.get(serverReports);
  const isKept = last !== undefined && (last.endedMs === null || clock.nowMs() - last.endedMs < keptMs);
  const checks: Checks = isKept ? last : { running: check(), endedMs: null };
  if (!isKept) lastChecks.set(serverReports, checks);
  try {
    const report = await checks.running;
    checks.endedMs ??= clock.nowMs();
    return { report, atMs: checks.endedMs };
  } catch (error) {
    lastChecks.delete(serverReports);
    throw error;
  }
}

export const serverRoutes: readonly Route[] = [
  route({
    id: "getServer",
    method: "GET",
    path: "/api/server",
    tag: "Service",
    summary: "Check what the running server runs with",
    access: "operator",
    document: () => ({
      description:
        "What `companiond doctor` reports of it, without secrets. The checks ask each provider, the language models for one " +
        "word, and take seconds; their findings are kept for a minute.",
      responses: { 200: jsonResponse("What it runs with, and what is wrong.", ServerObject) },
      errors: ["unavailable"],
    }),
    async handle({ services, request }): Promise<Server> {
      const { report, atMs } = await whileSilent(contextOf(request, services.ids), readReport(services));
      const { protocol: _, pid: __, user: ___, findings, ...facts } = report;
      return {
        checked_at: toRfc3339(atMs),
        findings: findings
          .map((finding) => ({ ...finding, is_off: finding.is_off === true }))
          .toSorted((a, b) => rankOf(a) - rankOf(b)),
        recent_failures: services.providerHealth
          .listSilent()
          .map(({ sinceMs: _, lastMs, ...failure }) => ({ ...failure, last_at: toRfc3339(lastMs) })),
        defects: services.measurements.defects,
        ...facts,
        language_model: { ...facts.language_model, models: [...facts.language_model.models] },
        settings: facts.settings.map(({ name, source }) => ({ name, source })),
      };
    },
  }),
  route({
    id: "testModel",
    method: "POST",
    path: "/api/server/test-model",
    tag: "Service",
    summary: "Ask a model for one word",
    access: "operator",
    body: jsonBody(testModelBody),
    document: () => ({
      description:
        "Whether it answers, how fast, and at what cost; at most 60 s, and one at a time. A provider's failure is in the " +
        "response. It counts in usage and budgets, under the account's id instead of a companion's.",
      bodyExample: { model: "gpt-6-luna" },
      responses: { 200: jsonResponse("What it answered.", TestedModelObject) },
      errors: ["conflict", "budget_exceeded", "unavailable"],
    }),
    async handle({ services, request, principal, readBody }) {
      const { model } = await readBody();
      const { models } = services.settings.llm;
      if (!models.includes(model)) {
        throw invalidFields([{ param: "model", detail: `Must be one of: ${models.join(", ")}.` }]);
      }
      const context = contextOf(request, services.ids);
      const { requestId } = context;
      const asked = testModel(services, principal.account, model, { signal: request.signal, requestId });
      return await whileSilent(context, asked);
    },
  }),
];
