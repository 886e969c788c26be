/** One reading of a claimed source: keeps the claim while it lasts, and stores how it ended. */
import type { ClaimedSource, EditionFacts } from "../../../contracts/store/store.ts";
import { AppError } from "../../../domain/errors.ts";
import type { SourceProgress } from "../../../domain/knowledge.ts";
import { FetchingFailure } from "../fetching/failure.ts";
import { ReadingFailure } from "../reading/failure.ts";
import { Outdated, TooManyPassages } from "./edition-builder.ts";
import { type IndexerParts, type ReadingParts, type ReadingRun, type ReadSource, SourceProblem } from "./parts.ts";
import { readSitemap } from "./sitemap-reading.ts";
import { readPage, readUploaded } from "./source-reading.ts";

export interface RunParts extends IndexerParts {
  leaseMs: number;
  findNumbering: ReadingParts["findNumbering"];
  model: string | null;
}

/** What may pass is tried again so soon after the first failure, the second and the third. */
const retryDelaysMs = [30_000, 5 * 60_000, 30 * 60_000];
/** After so many failures in a row a source is no longer read again automatically. */
const maxFailures = 10;
const hourMs = 3_600_000;
/** For everything that waits in a reading: a sitemap of 500 slow pages. */
const maxMs = hourMs;
const late = "Reading this source took more than an hour.";
const lateSitemap = `${late} Split the sitemap into smaller ones.`;

/** Where another owner or another revision has taken over, nothing is stored. Rejects if the store does. */
export async function runReading(parts: RunParts, claimed: ClaimedSource, closing: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(tooLate(claimed)), parts.maxMs ?? maxMs);
  timer.unref();
  const signal = AbortSignal.any([closing, stop.signal, deadline.signal]);
  const lease = keepLease(parts, claimed, () => stop.abort(new Error("the source has changed")));
  const run: ReadingRun = { claimed, signal, edition: null, report: lease.report };
  try {
    await store(parts, run, await readSource(parts, run));
  } catch (error) {
    if (closing.aborted) await lease.release();
    // What it has begun was dropped with the claim.
    else if (!stop.signal.aborted && !(error instanceof Outdated)) {
      await fail(parts, run, deadline.signal.aborted ? deadline.signal.reason : error);
    }
  } finally {
    clearTimeout(timer);
    lease.end();
  }
}

function tooLate({ source: { type } }: ClaimedSource): SourceProblem {
  return new SourceProblem(type === "sitemap" ? lateSitemap : late);
}

function readSource(parts: RunParts, run: ReadingRun): Promise<ReadSource> {
  const { reader, fetcher, findNumbering, model, clock } = parts;
  const given = { reader, fetcher, findNumbering, model };
  const reading = { ...given, store: parts.store.knowledge, nowMs: () => clock.nowMs() };
  const { type } = run.claimed.source;
  if (type === "sitemap") return readSitemap(reading, run);
  return type === "url" ? readPage(reading, run) : readUploaded(reading, run);
}

async function store(parts: RunParts, run: ReadingRun, { built, notice, validators }: ReadSource): Promise<void> {
  const {
    store: { knowledge },
    clock,
    log,
  } = parts;
  const { claimed, edition } = run;
  const nowMs = clock.nowMs();
  const { refreshHours, id } = claimed.source;
  const times: Pick<EditionFacts, "notice" | "refreshAt"> = {
    notice,
    refreshAt: refreshHours === null ? null : nowMs + refreshHours * hourMs,
  };
  if (built === null || edition === null) {
    await knowledge.confirm(claimed, { ...times, validators }, nowMs);
    return;
  }
  if (built.chunks === 0) throw new SourceProblem("There is no text here.");
  const verdict = await knowledge.publish(claimed, edition, { ...built, ...times }, nowMs);
  if (verdict === "too_many_chunks") throw new TooManyPassages();
  if (verdict === "published") log.info("source indexed", { sourceId: id, chunks: built.chunks });
}

async function fail(parts: RunParts, { claimed, edition }: ReadingRun, error: unknown): Promise<void> {
  const {
    store: { knowledge },
    clock,
    log,
  } = parts;
  const { sentence, isTransient } = describe(error);
  // Public sentences, and for unexpected failures the whole error: neither holds words of the source.
  if (isExpected(error)) log.info("source not read", { sourceId: claimed.source.id, why: sentence });
  else log.error("source not read", { sourceId: claimed.source.id, error });
  const nowMs = clock.nowMs();
  const { refreshHours } = claimed.source;
  const failures = claimed.failures + 1;
  const delayMs = retryDelaysMs[claimed.failures];
  if (isTransient && delayMs !== undefined) {
    const promise = isExpected(error) ? "" : " It is tried again.";
    await knowledge.fail(
      claimed,
      { sentence: sentence + promise, again: true, dueAt: nowMs + delayMs, edition },
      nowMs,
    );
    return;
  }
  const isGivenUp = refreshHours === null || failures >= maxFailures;
  const ending =
    refreshHours !== null && isGivenUp ? " After ten failures in a row it is no longer read automatically." : "";
  const dueAt = isGivenUp ? null : nowMs + refreshHours * hourMs;
  await knowledge.fail(claimed, { sentence: sentence + ending, again: false, dueAt, edition }, nowMs);
}

function isExpected(error: unknown): error is Error {
  return (
    error instanceof FetchingFailure ||
    error instanceof ReadingFailure ||
    error instanceof SourceProblem ||
    error instanceof TooManyPassages
  );
}

function describe(error: unknown): { sentence: string; isTransient: boolean } {
  if (error instanceof TooManyPassages) {
    const sentence = "With this source the companion would have more than 20 000 passages. Delete others, or split it.";
    return { sentence, isTransient: false };
  }
  if (error instanceof ReadingFailure) return { sentence: error.message, isTransient: false };
  if (isExpected(error)) {
    return { sentence: error.message, isTransient: (error as FetchingFailure | SourceProblem).isTransient };
  }
  const isStorage = error instanceof AppError && error.code === "unavailable";
  const sentence = isStorage
    ? "What was read could not be stored: storage is full or unavailable."
    : "Reading this source failed unexpectedly.";
  return { sentence, isTransient: true };
}

/** Renews the claim while the reading lasts, and reports its progress. */
function keepLease({ store: { knowledge }, leaseMs, clock, log }: RunParts, claimed: ClaimedSource, lost: () => void) {
  let progress: SourceProgress | null = null;
  let stored: SourceProgress | null = null;
  let renewedAtMs = clock.nowMs();

  async function renew(): Promise<void> {
    try {
      stored = progress;
      renewedAtMs = clock.nowMs();
      if (!(await knowledge.renew(claimed, renewedAtMs + leaseMs, progress))) lost();
    } catch (error) {
      // Until the lease is over, no one else acquires the source.
      log.warn("claim of a source not renewed", { sourceId: claimed.source.id, error });
    }
  }

  // Every second, because people watch it; without news, only in time.
  const timer = setInterval(() => {
    if (stored !== progress || clock.nowMs() - renewedAtMs > leaseMs / 3) void renew();
  }, 1000);
  timer.unref();
  return {
    report(next: SourceProgress) {
      progress = next;
    },
    async release() {
      await knowledge.release(claimed, clock.nowMs());
    },
    end: () => clearInterval(timer),
  };
}
