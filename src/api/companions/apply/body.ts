/** The body of `POST /api/apply`: larger than other JSON, and so within the budget of memory for large bodies. */
import { AppError } from "../../../domain/errors.ts";
import { decodeText, type JsonBody, parseJson, requireJsonContentType } from "../../../http/json-body.ts";
import { digestInSlices, joinInSlices } from "../../../lib/byte-slices.ts";
import { pause } from "../../../lib/pause.ts";
import { applyBody } from "./model.ts";

export const applyLimitBytes = 9 * 1024 * 1024;

export const applyBodyReader: JsonBody<unknown> = {
  checker: applyBody,
  limitBytes: applyLimitBytes,
  isOptional: false,
  // Companions are checked one by one.
  check: (sent) => sent,
  async take({ request, bodies, accountId }) {
    requireJsonContentType(request);
    if (Number(request.headers.get("content-length")) > applyLimitBytes) throw tooLarge();
    const { pieces, release } = await bodies.take(request, accountId);
    try {
      const bytes = await joinInSlices(pieces);
      if (bytes.length > applyLimitBytes) throw tooLarge();
      return { digest: () => digestInSlices([bytes]), parse: () => parse(bytes), release };
    } catch (error) {
      release();
      throw error;
    }
  },
};

/** Decoding, parsing and what is done with the value take many milliseconds each. */
async function parse(bytes: Uint8Array): Promise<unknown> {
  const text = decodeText(bytes);
  await pause();
  const value = parseJson(text);
  await pause();
  return value;
}

function tooLarge(): AppError {
  return new AppError("payload_too_large", `The request body is larger than ${applyLimitBytes / 1024 ** 2} MiB.`);
}
