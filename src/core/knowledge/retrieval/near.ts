/** Asks for passages by meaning, within the time that a visitor waits for it. */
import type { Log } from "../../../lib/log.ts";
import type { Measurements } from "../../metrics/measurements.ts";
import type { NearFound, NearPassages, NearQuestion } from "./found.ts";

/** After this long words have to do. */
const defaultNearMs = 2_000;

export interface NearLimits {
  readonly log: Log;
  readonly measurements: Pick<Measurements, "knowledgeFallbacks">;
  /** Shortened in tests. */
  readonly nearMs?: number;
}

/** Null if words have to do. Never rejects. */
export async function nearWithin(
  near: NearPassages,
  question: NearQuestion,
  { log, measurements, nearMs = defaultNearMs }: NearLimits,
): Promise<NearFound | null> {
  const waiting = new AbortController();
  const stop = { handleEvent: () => waiting.abort() };
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error("no answer in time"));
    waiting.abort();
  }, nearMs);
  question.signal?.addEventListener("abort", stop);
  try {
    return await Promise.race([near.find(question, waiting.signal), late.promise]);
  } catch (error) {
    // The visitor has left: nobody waits for words either.
    if (question.signal?.aborted) return null;
    measurements.knowledgeFallbacks++;
    log.warn("passages are found by words alone", { companionId: question.companion.id, error });
    return null;
  } finally {
    clearTimeout(timer);
    question.signal?.removeEventListener("abort", stop);
  }
}
