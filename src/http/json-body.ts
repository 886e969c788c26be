/** Reads a JSON body: checks content type, size, encoding and syntax, in that order, each with its own error. */
import { type Static, type TObject, type TSchema, Type as t } from "@sinclair/typebox";
import type { Services } from "../core/dependencies.ts";
import type { Principal } from "../domain/account.ts";
import { AppError } from "../domain/errors.ts";
import { GatheredBytes } from "../lib/gathered-bytes.ts";
import { sha256Hex } from "../lib/sha256.ts";
import type { BodyBudget } from "./body-budget.ts";
import { readPieces } from "./body-pieces.ts";
import { linesOf, linesType } from "./schemas/lines.ts";
import { omitReadOnly } from "./schemas/named-object.ts";
import type { Checker } from "./schemas/schema.ts";

export const embedBodyLimitBytes = 64 * 1024;
const managementBodyLimitBytes = 1024 * 1024;
/** Small, because a body from a known browser is read before any limit. */
export const signInBodyLimitBytes = 64 * 1024;

/** The body that a route accepts. */
export interface JsonBody<Value> {
  /** Created when the API document is requested, or the first body is checked. */
  readonly checker: { readonly schema: TSchema };
  readonly limitBytes: number;
  /** For a body that is not one JSON value of the model alone: what it may be, by media type. */
  readonly forms?: Readonly<Record<string, BodyForm>>;
  /** The same: how it is read. Left out: as JSON. */
  readonly take?: (call: BodyRequest) => Promise<ArrivedBody>;
  /** If true, a missing body counts as an empty object. */
  readonly isOptional: boolean;
  /** Throws `invalid_request`. */
  check(sent: unknown): Value;
}

export interface BodyRequest {
  readonly request: Request;
  readonly bodies: BodyBudget;
  readonly accountId: string;
}

export interface BodyForm {
  readonly schema: TSchema;
  readonly example?: object;
}

/** A body that has arrived, of which nothing is checked yet but its type, size and encoding. */
export interface ArrivedBody {
  /** SHA-256, hex, of what was sent: the same for the same. */
  digest(): Promise<string>;
  /** What `JsonBody.check` takes. Throws `invalid_request`. */
  parse(): Promise<unknown>;
  /** Its memory is needed no longer. */
  release(): void;
}

interface JsonBodyOptions {
  limitBytes?: number;
  isOptional?: boolean;
  /** What clients may send back as they read it: fields that the model does not have are ignored. */
  answer?: TObject;
}

/** A body validated by its model. */
export function jsonBody<Schema extends TObject>(
  checker: Checker<Schema>,
  options: JsonBodyOptions = {},
): JsonBody<Static<Schema>> {
  const { answer } = options;
  const check = (sent: unknown) => checker.check(answer === undefined ? sent : omitReadOnly(sent, checker, answer));
  return { ...uncheckedBody(checker, options), check };
}

/** A body of many values, as an array or a line for each: the handler reads it, and the model is for the API document. */
export function batchBody(
  checker: { readonly schema: TSchema },
  { limitBytes, maxItems }: { limitBytes: number; maxItems: number },
): JsonBody<never> {
  const check = (): never => {
    throw new Error("values are checked one by one");
  };
  return {
    checker,
    limitBytes,
    isOptional: false,
    check,
    get forms() {
      const lines = { schema: linesOf(checker.schema) };
      const array = { schema: t.Array(checker.schema, { minItems: 1, maxItems }) };
      return { "application/json": array, ...Object.fromEntries(linesTypes.map((type) => [type, lines])) };
    },
  };
}

/** A body that the handler validates itself, with rules beyond the model; the model is only for the API document. */
export function uncheckedBody(
  checker: { readonly schema: TSchema },
  { limitBytes = managementBodyLimitBytes, isOptional = false }: JsonBodyOptions = {},
): JsonBody<unknown> {
  return { checker, limitBytes, isOptional, check: (sent) => sent };
}

/**
 * The request's validated JSON value.
 *
 * Throws `unsupported_media_type` (415), `payload_too_large` (413) or `invalid_request` (400). Not Elysia's own parser:
 * it accepts forms and `text/plain` on JSON routes, which need no preflight, and it runs before any guard.
 */
export async function readJsonBody<Value>(request: Request, body: JsonBody<Value>): Promise<Value> {
  const text = await readJsonText(request, body.limitBytes);
  return body.check(text === "" && body.isOptional ? {} : parseJson(text));
}

/** The body in two steps, for callers that also need to recognize it. Throws as `readJsonBody`. */
export async function takeBody(
  { uploadBodies: bodies }: Pick<Services, "uploadBodies">,
  { request, principal, body }: { request: Request; principal: Principal; body: JsonBody<unknown> },
): Promise<ArrivedBody> {
  if (body.take !== undefined) return await body.take({ request, bodies, accountId: principal.account.id });
  const text = await readJsonText(request, body.limitBytes);
  return {
    digest: async () => sha256Hex(text),
    parse: async () => (text !== "" ? parseJson(text) : body.isOptional ? {} : undefined),
    release: () => undefined,
  };
}

/**
 * The body's text, for callers that also need its exact bytes (a digest). Empty if there is no body, which needs no
 * content type.
 */
export async function readJsonText(request: Request, limitBytes: number): Promise<string> {
  const announced = request.headers.get("content-length");
  if (announced !== null && announced !== "0") requireJsonContentType(request);
  const bytes = await readBytes(request, limitBytes);
  if (bytes.length === 0) return "";
  requireJsonContentType(request);
  return decodeText(bytes);
}

/** At most `limitBytes` of body; more is 413, even without a Content-Length. */
async function readBytes(request: Request, limitBytes: number): Promise<Uint8Array> {
  const announced = request.headers.get("content-length");
  if (announced !== null) {
    if (Number(announced) > limitBytes) throw tooLarge(limitBytes);
    return new Uint8Array(await request.arrayBuffer());
  }
  const body = new GatheredBytes();
  for await (const piece of readPieces(request, null)) {
    if (body.length + piece.length > limitBytes) throw tooLarge(limitBytes);
    body.add(piece);
  }
  return Buffer.concat(body.blocks, body.length);
}

export function parseJson(text: string): unknown {
  if (text === "") throw new AppError("invalid_request", "Send a JSON object as the request body.");
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError("invalid_request", "The request body is not valid JSON.");
  }
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

export function decodeText(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw new AppError("invalid_request", "The request body is not valid UTF-8.");
  }
}

export const mergePatchType = "application/merge-patch+json";

/** What JSON lines are called: by many, and by some. */
const linesTypes = [linesType, "application/jsonl"];

/** Whether a body of many values is an array, and not lines. Throws `unsupported_media_type`. */
export function isArrayBody(request: Request): boolean {
  const type = mediaTypeOf(request) ?? "";
  if (type === "application/json" || linesTypes.includes(type)) return type === "application/json";
  throw new AppError(
    "unsupported_media_type",
    "Send one JSON object per line, as application/x-ndjson, or an array of them, as application/json.",
  );
}

export function mediaTypeOf(request: Request): string | undefined {
  const header = request.headers.get("content-type");
  if (header === "application/json") return header;
  return header?.split(";", 1)[0]?.trim().toLowerCase();
}

/** Whether the body of a PATCH is a JSON Merge Patch (RFC 7396). */
export function isMergePatch(request: Request): boolean {
  return mediaTypeOf(request) === mergePatchType;
}

/** For routes whose requests need a content type even without a body. Every PATCH may be a JSON Merge Patch. */
export function requireJsonContentType(request: Request): void {
  const type = mediaTypeOf(request);
  if (type === "application/json") return;
  if (request.method !== "PATCH") {
    throw new AppError("unsupported_media_type", "Send the body as JSON, with Content-Type: application/json.");
  }
  if (type === mergePatchType) return;
  throw new AppError("unsupported_media_type", `Send the body as JSON, as application/json or ${mergePatchType}.`, {
    headers: { "accept-patch": `application/json, ${mergePatchType}` },
  });
}

function tooLarge(limitBytes: number): AppError {
  return new AppError("payload_too_large", `The request body is larger than ${limitBytes / 1024} KiB.`);
}
