/** Many companions in one request: each as a call of its own, in parts that are committed one by one. */
import { toMadeCompanion } from "../../contracts/store/companions.ts";
import type { IdempotencySlot, NewCompanion, WriteContext } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import type { Principal } from "../../domain/account.ts";
import { AppError } from "../../domain/errors.ts";
import { baseUrlOf } from "../../http/base-url.ts";
import { describeFailure } from "../../http/error-handling.ts";
import { readSlot } from "../../http/idempotency.ts";
import { isArrayBody } from "../../http/json-body.ts";
import { describeProblem, toAppError } from "../../http/problem.ts";
import { contextOf } from "../../http/request-context.ts";
import { splitArray } from "../../lib/json-array.ts";
import { parseLine, type RawLine, splitLines } from "../../lib/json-lines.ts";
import { pause } from "../../lib/pause.ts";
import { cutPortions } from "./portions.ts";
import { toWireCompanion } from "./responses.ts";
import { prepareNewCompanion } from "./service.ts";

export const batchLimitBytes = 8 * 1024 * 1024;
export const maxLines = 1_000;
const maxLineBytes = 1024 * 1024;
/** How often a part is checked again where what a line refers to has changed before its commit. */
const maxTries = 3;

interface BatchRequest {
  services: Services;
  request: Request;
  principal: Principal;
  writeContext(): WriteContext;
}

/** An opened batch: its parts are worked off one after the other, as they are asked for. */
export interface Batch {
  /** Whether body and answer are arrays, and not lines. */
  readonly isArray: boolean;
  /** Whether all of it was made by an earlier call. */
  readonly isReplayed: boolean;
  readonly parts: number;
  /** The response's lines of the part, each with its end, once they are committed. */
  work(part: number): Promise<string>;
  /** The lines of this and all later parts, none of which are made. */
  fail(part: number, error: unknown): string;
  /** Call it when no part will be asked for any more. */
  close(): void;
}

/** Keys of batches that this instance works on. Another instance's is found out by the first commit. */
const running = new Set<string>();

/**
 * Reads the batch and checks it as a whole. Throws `unsupported_media_type`, `payload_too_large`, `rate_limited`,
 * `invalid_request`, and with an `Idempotency-Key` `conflict` and `idempotency_mismatch`: then nothing was made.
 */
export async function openBatch(call: BatchRequest): Promise<Batch> {
  const { services, request, principal } = call;
  const slot = readSlot(request, principal);
  const isArray = isArrayBody(request);
  const digest = new Bun.SHA256();
  const body = await services.batchBodies.take(request, principal.account.id, (piece) => digest.update(piece));
  const name = slot === null ? null : JSON.stringify([slot.accountId, slot.path, slot.key]);
  let isOpen = false;
  try {
    const lines = isArray ? await readArray(body.pieces) : splitLines(body.pieces, maxLineBytes, maxLines);
    if (lines === null) throw new AppError("invalid_request", `Send at most ${maxLines} companions in one request.`);
    if (lines.length === 0) throw new AppError("invalid_request", "Send at least one companion.");
    if (name !== null && running.has(name)) throw stillRunning();
    if (name !== null) running.add(name);
    isOpen = true;
    const parts = cutPortions(lines);
    const bodyHash = digest.digest("hex");
    const findKept = (part: number) => (slot === null ? null : findPart(services, slotOf(slot, part), bodyHash));
    // They are made in order: behind one that is not recorded, none is.
    let mayBeKept = (await findKept(0)) !== null;
    const isReplayed = mayBeKept && (await findKept(parts.length - 1)) !== null;
    return {
      isArray,
      isReplayed,
      parts: parts.length,
      async work(part) {
        const kept = mayBeKept ? await findKept(part) : null;
        if (kept !== null) return kept;
        mayBeKept = false;
        // The body has just been cut, or the part before committed.
        await pause();
        return await makePart(call, parts[part] ?? [], slot === null ? null : { ...slotOf(slot, part), bodyHash });
      },
      fail(part, error) {
        const failure = toAppError(error);
        describeFailure(services, failure, request);
        return parts
          .slice(part)
          .flat()
          .map((line) => problemLine(call, line.number, failure))
          .join("");
      },
      close() {
        if (name !== null) running.delete(name);
        body.release();
      },
    };
  } catch (error) {
    if (isOpen && name !== null) running.delete(name);
    body.release();
    throw error;
  }
}

/** Null if there are more elements than a batch may have. */
async function readArray(pieces: readonly Uint8Array[]): Promise<RawLine[] | null> {
  const lines = await splitArray(pieces, maxLineBytes, maxLines);
  if (lines === null) throw new AppError("invalid_request", "The request body is not a JSON array.");
  return lines.length > maxLines ? null : lines;
}

/** What an earlier call recorded of the part; null for nothing. */
async function findPart(
  { store, clock }: Services,
  { slot }: { slot: IdempotencySlot },
  bodyHash: string,
): Promise<string | null> {
  const found = await store.idempotency.find(slot, clock.nowMs());
  if (found !== null && found.bodyHash !== bodyHash) {
    throw new AppError("idempotency_mismatch", "This Idempotency-Key was used with another body. Use a new key.");
  }
  return found?.body ?? null;
}

/** No path has a number sign. */
function slotOf(slot: IdempotencySlot, part: number): { slot: IdempotencySlot } {
  return { slot: { ...slot, path: `${slot.path}#${part}` } };
}

interface PreparedLine {
  number: number;
  made: { companion: NewCompanion; text: string } | null;
  /** Why it cannot be made. */
  problem: AppError | null;
}

async function makePart(
  call: BatchRequest,
  lines: readonly RawLine[],
  record: { slot: IdempotencySlot; bodyHash: string } | null,
): Promise<string> {
  const { services, principal } = call;
  for (let tries = 1; ; tries++) {
    const context = call.writeContext();
    const prepared: PreparedLine[] = [];
    for (const line of lines) prepared.push(await prepareLine(call, line, context.nowMs));
    const companions = prepared.flatMap(({ made }) => (made === null ? [] : [made.companion]));
    let text = "";
    try {
      await services.store.companions.createFitting(principal.account.id, companions, context, (refusals) => {
        text = prepared.map((line) => renderLine(call, line, refusals)).join("");
        return record === null ? null : { ...record, status: 200, body: text };
      });
      return text;
    } catch (error) {
      const isOutdated = error instanceof AppError && error.code === "invalid_request";
      if (!isOutdated || tries === maxTries) throw error;
    }
  }
}

async function prepareLine(call: BatchRequest, line: RawLine, nowMs: number): Promise<PreparedLine> {
  const { services, principal } = call;
  const { number } = line;
  const [parsed = { value: undefined, problem: "The line is blank." }] = parseLine(line, maxLineBytes);
  if (parsed.problem !== null) return { number, made: null, problem: new AppError("invalid_request", parsed.problem) };
  try {
    const companion = await prepareNewCompanion(services, principal, parsed.value);
    const wire = toWireCompanion(toMadeCompanion(principal.account.id, companion, nowMs));
    return { number, made: { companion, text: `${JSON.stringify(wire)}\n` }, problem: null };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid_request") throw error;
    return { number, made: null, problem: error };
  }
}

function renderLine(
  call: BatchRequest,
  { number, made, problem }: PreparedLine,
  refusals: ReadonlyMap<string, AppError>,
) {
  const refusal = problem ?? (made === null ? undefined : refusals.get(made.companion.id));
  return refusal === undefined ? (made?.text ?? "") : problemLine(call, number, refusal);
}

function problemLine({ services, request }: BatchRequest, line: number, error: AppError): string {
  const { requestId } = contextOf(request, services.ids);
  const problem = describeProblem(error, requestId, baseUrlOf(services.settings, request));
  return `${JSON.stringify({ line, ...problem })}\n`;
}

function stillRunning(): AppError {
  return new AppError("conflict", "A request with this Idempotency-Key is still running. Try again in a moment.", {
    retryAfterSeconds: 1,
  });
}
