/** Reads a body that is JSON, or a form with a file: larger than other bodies, and so within a budget of memory. */
import { AppError, invalidFields } from "../domain/errors.ts";
import { digestInSlices, joinInSlices } from "../lib/byte-slices.ts";
import { parseLongJson } from "../lib/long-json.ts";
import { type FormPart, findBoundary, MultipartFault, parseMultipart } from "../lib/multipart.ts";
import { createSemaphore } from "../lib/semaphore.ts";
import { sha256Hex } from "../lib/sha256.ts";
import type { HeldBody } from "./body-budget.ts";
import { type ArrivedBody, type BodyRequest, decodeText, mediaTypeOf, parseJson, readJsonText } from "./json-body.ts";

export const formType = "multipart/form-data";

/** As every other body: these need no share of the budget. */
const smallBytes = 1024 * 1024;
/** More than any form has that is meant well: its faults can be reported by name. */
const maxParts = 16;

/** Of what is no file. */
const fieldBytes = 64 * 1024;

/** Bodies that arrive together would be joined and searched in one turn of the event loop. */
const joining = createSemaphore({ concurrency: 1, maxWaiting: Number.POSITIVE_INFINITY });

/** A form's file, instead of its field's text. */
export class SentFile {
  constructor(
    readonly name: string,
    readonly contentType: string | null,
    readonly bytes: Uint8Array,
  ) {}
}

/**
 * A form is parsed to an object as well: its fields are texts, its files `SentFile`s. Throws `unsupported_media_type`,
 * `payload_too_large`, `rate_limited` if too much is sent at the same time, and `invalid_request`.
 */
export async function takeUpload(call: BodyRequest): Promise<ArrivedBody> {
  const { request } = call;
  const type = mediaTypeOf(request);
  const announced = request.headers.get("content-length");
  const isSmall = announced !== null && Number(announced) <= smallBytes;
  if (type === formType) {
    const boundary = findBoundary(request.headers.get("content-type") ?? "");
    if (boundary === null) throw invalidForm("The Content-Type needs a boundary.");
    const { pieces, release } = await hold(call, isSmall);
    return await orRelease(release, async () => toForm(await readParts(pieces, boundary), release));
  }
  if (type !== "application/json" && announced !== "0" && request.body !== null) {
    throw new AppError("unsupported_media_type", `Send JSON, or a file as ${formType}.`);
  }
  if (isSmall) {
    const text = await readJsonText(request, smallBytes);
    return { digest: async () => sha256Hex(text), parse: async () => parseJson(text), release: () => undefined };
  }
  const { pieces, release } = await hold(call, false);
  return { digest: () => digestInSlices(pieces), parse: () => parseLong(pieces), release };
}

async function hold({ request, bodies, accountId }: BodyRequest, isSmall: boolean): Promise<HeldBody> {
  if (!isSmall) return await bodies.take(request, accountId);
  return { pieces: [new Uint8Array(await request.arrayBuffer())], release: () => undefined };
}

async function orRelease<Result>(release: () => void, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    release();
    throw error;
  }
}

async function parseLong(pieces: readonly Uint8Array[]): Promise<unknown> {
  const json = await joining.run(() => joinInSlices(pieces));
  // Few bytes are refused as everywhere, with the same words.
  if (json.length <= smallBytes) return parseJson(decodeText(json));
  const value = await parseLongJson(json, smallBytes).catch((cause: unknown) => {
    const format = cause instanceof TypeError ? "UTF-8" : "JSON";
    throw new AppError("invalid_request", `The request body is not valid ${format}.`, { cause });
  });
  if (value !== null) return value;
  throw new AppError("payload_too_large", `Without its text, the body is larger than ${smallBytes / 1024} KiB.`);
}

async function readParts(pieces: readonly Uint8Array[], boundary: string): Promise<FormPart[]> {
  try {
    return await joining.run(async () => parseMultipart(await joinInSlices(pieces), boundary, maxParts));
  } catch (error) {
    if (error instanceof MultipartFault) throw invalidForm(error.message);
    throw error;
  }
}

function toForm(parts: readonly FormPart[], release: () => void): ArrivedBody {
  return {
    /** Of what the parts hold: the boundary is another one each time. */
    async digest() {
      const digests: unknown[] = [];
      for (const { name, fileName, contentType, content } of parts) {
        digests.push([name, fileName, contentType, await digestInSlices([content])]);
      }
      return sha256Hex(JSON.stringify(digests));
    },
    parse: async () => toObject(parts),
    release,
  };
}

function toObject(parts: readonly FormPart[]): Record<string, string | SentFile> {
  const fields = new Map<string, string | SentFile>();
  const repeated = parts.filter(({ name }, at) => parts.findIndex((part) => part.name === name) < at);
  if (repeated.length > 0) {
    throw invalidFields(repeated.map(({ name }) => ({ param: shorten(name), detail: "Must be sent only once." })));
  }
  const long = parts.filter(({ fileName, content }) => fileName === null && content.length > fieldBytes);
  if (long.length > 0) {
    throw invalidFields(
      long.map(({ name }) => ({ param: shorten(name), detail: "Is too long, or needs a file name." })),
    );
  }
  for (const { name, fileName, contentType, content } of parts) {
    fields.set(name, fileName === null ? decodeText(content) : new SentFile(fileName, contentType, content));
  }
  return Object.fromEntries(fields);
}

function shorten(name: string): string {
  return name.slice(0, 200).toWellFormed();
}

function invalidForm(sentence: string): AppError {
  return new AppError("invalid_request", sentence);
}
