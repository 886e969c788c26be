/** The server's own counters, as plain numbers: hot paths only add, and only a scrape pays for reading. */
import { type RuleName, ruleNames } from "../../contracts/limiter/limiter.ts";
import { type FailureKind, failureKinds } from "../../domain/reply-failure.ts";
import type { StreamOutcome } from "../../domain/stream-end.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import { Histogram } from "../../lib/histogram.ts";
import type { Probe } from "../../lib/probe.ts";
import { RefusedConfigs } from "./refused-configs.ts";

export interface RouteCounts {
  readonly method: string;
  /** As written in the routes. */
  readonly route: string;
  /** Number of responses, by status. */
  readonly statuses: Map<number, number>;
  readonly seconds: Histogram;
}

/** What becomes of a provider's call: failed is before the first text, broken after it, left by the visitor. */
export type CallOutcome = "complete" | "failed" | "broken" | "left";

/** Whether a passage spoke of what was asked; small talk asks nothing. */
export const knowledgeOutcomes = ["found", "not_found", "small_talk"] as const;
export type KnowledgeOutcome = (typeof knowledgeOutcomes)[number];

export interface VerdictCounts {
  admitted: number;
  refused: number;
}

const requestBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const firstTextBounds = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const streamBounds = [0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 600];
const storeBounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5];
const knowledgeBounds = [0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.06, 0.1, 0.25, 0.5, 1, 2.5];
const handoffWaitBounds = [5, 10, 20, 30, 60, 120, 300, 600, 900];
const lagBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

export class Measurements {
  readonly routes: RouteCounts[] = [];
  readonly probes: Probe[] = [];
  openStreams = 0;
  readonly streams: Record<StreamOutcome, number> = { complete: 0, broken: 0, left: 0 };
  readonly firstTextSeconds = new Histogram(firstTextBounds);
  readonly streamSeconds = new Histogram(streamBounds);
  /** Counted by the provider, or estimated. */
  readonly tokens = { input: { counted: 0, estimated: 0 }, output: { counted: 0, estimated: 0 } };
  readonly failedReplies = Object.fromEntries(failureKinds.map((kind) => [kind, 0])) as Record<FailureKind, number>;
  /** Before any provider was asked, by reason. */
  readonly refusedCalls = { stopped: 0, budget: 0, reserved: 0, unpriced: 0 };
  readonly refusedConfigs = new RefusedConfigs();
  /** By what the budget does. */
  readonly reachedBudgets = { stop: 0, notify: 0 };
  /** Attempts to deliver an event: it has arrived, will be tried again, or has disabled its webhook. */
  readonly deliveries = { delivered: 0, waiting: 0, failed: 0 };
  readonly mails = { sent: 0, failed: 0, dropped: 0 };
  /** Calls by provider: one for each reply that it was asked for. */
  readonly providerCalls = new Map<string, Record<CallOutcome, number>>();
  readonly verdicts = Object.fromEntries(
    [...ruleNames, "daily", "daily_voice"].map((name) => [name, { admitted: 0, refused: 0 }]),
  ) as Record<RuleName | "daily" | "daily_voice", VerdictCounts>;
  readonly storeReadSeconds = new Histogram(storeBounds);
  readonly storeWriteSeconds = new Histogram(storeBounds);
  storeFailures = 0;
  /** Searches of companions' knowledge, until the passages were read. */
  readonly knowledgeSeconds = Object.fromEntries(
    knowledgeOutcomes.map((outcome) => [outcome, new Histogram(knowledgeBounds)]),
  ) as Record<KnowledgeOutcome, Histogram>;
  /** Searches that had to make do with words, although there are embeddings. */
  knowledgeFallbacks = 0;
  /** From the request for a person until someone took the conversation. */
  readonly handoffWaitSeconds = new Histogram(handoffWaitBounds);
  readonly eventLoopLagSeconds = new Histogram(lagBounds);
  /** Since when backups are made on a schedule; null without one. */
  backupsScheduledAtMs: number | null = null;
  readonly backups = { succeeded: 0, failed: 0, lastSuccessAtMs: null as number | null };
  /** Of scheduled backups to storage elsewhere. */
  readonly backupUploads = { succeeded: 0, failed: 0, lastSuccessAtMs: null as number | null };
  /** Since when scheduled backups are also uploaded; null if they are not. */
  uploadsScheduledAtMs: number | null = null;
  /** Requests with a forwarded header although no proxy is trusted. */
  untrustedForwards = 0;
  /** Unexpected errors that were kept from ending the process. */
  defects = 0;

  /** The preflight route is in both halves of the routes, but counted once. */
  addRoute(method: string, route: string): RouteCounts {
    const known = this.routes.find((one) => one.method === method && one.route === route);
    if (known !== undefined) return known;
    const counts = { method, route, statuses: new Map(), seconds: new Histogram(requestBounds) };
    this.routes.push(counts);
    return counts;
  }

  countCall(provider: string, outcome: CallOutcome): void {
    let counts = this.providerCalls.get(provider);
    if (counts === undefined) {
      counts = { complete: 0, failed: 0, broken: 0, left: 0 };
      this.providerCalls.set(provider, counts);
    }
    counts[outcome]++;
  }

  countTokens({ inputTokens, outputTokens, estimated }: TokenUsage): void {
    const kind = estimated ? "estimated" : "counted";
    this.tokens.input[kind] += inputTokens;
    this.tokens.output[kind] += outputTokens;
  }
}

const intervalMs = 250;

/**
 * Measures how late timers fire, which delays every stream when something blocks the event loop. Returns a function
 * that stops it. Does not keep the process alive.
 */
export function watchEventLoop(lagSeconds: Histogram): () => void {
  let expectedMs = performance.now() + intervalMs;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    lagSeconds.observe(Math.max(0, nowMs - expectedMs) / 1000);
    expectedMs = nowMs + intervalMs;
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
