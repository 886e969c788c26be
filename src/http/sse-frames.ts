/** The bytes of a chat stream: the only file that writes Server-Sent Events (spec 4.2). */
import type { StreamErrorCode } from "../domain/stream-end.ts";

export const sseHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
} as const;

export const doneFrame = "data: [DONE]\n\n";
export const pingFrame = ": ping\n\n";

export function errorFrame(code: StreamErrorCode): string {
  return `: error ${code}\n\n`;
}

/** Text that JSON.stringify would only quote, as it does nearly every delta. */
const isPlainAscii = /^[ !#-[\]-~]*$/;

const frameStart = 'data: {"text":"';
const frameEnd = '"}\n\n';
const frameBetween = frameEnd + frameStart;

/** One event per delta, joined so that they leave in one write. */
export function frameDeltas(deltas: readonly string[]): string {
  const whole = deltas.join("");
  if (isPlainAscii.test(whole)) {
    return frameStart + (deltas.length === 1 ? whole : deltas.join(frameBetween)) + frameEnd;
  }
  let frames = "";
  for (const delta of deltas) {
    frames += isPlainAscii.test(delta) ? frameStart + delta + frameEnd : `data: {"text":${JSON.stringify(delta)}}\n\n`;
  }
  return frames;
}
