/** Conditional requests: `ETag`, `If-None-Match` and `If-Match` (RFC 9110, 13). */
import { AppError, invalidFields } from "../domain/errors.ts";
import { toRfc3339 } from "../lib/clock.ts";
import { matchesTag } from "../lib/entity-tag.ts";
import { sha256 } from "../lib/sha256.ts";
import { JsonText, type ResponseHead } from "./json-response.ts";

const headerName = "If-Match";
const listedTag = /^(W\/)?("[\x21\x23-\x7e\x80-\xff]*")$/;

/** The strong tag of a representation: it changes if, and only if, that does. */
function tagOfJson(text: string): string {
  return `"${Buffer.from(sha256(text)).toString("base64url").slice(0, 22)}"`;
}

/**
 * The representation with its `ETag`, which is that of `version`; 304 for a client that has it already. Where `version` is
 * another object, what it leaves out is not worth a 412.
 */
export function respondVersioned(
  request: Request,
  set: ResponseHead,
  wire: object,
  version = wire,
): JsonText | Response {
  const text = JSON.stringify(wire);
  const etag = addTag(set, version === wire ? text : JSON.stringify(version));
  if (request.method === "GET" && matchesTag(request.headers.get("if-none-match"), etag)) {
    return new Response(null, { status: 304 });
  }
  return new JsonText(text);
}

/** Adds the `ETag` of a response's text, or of what stands for it. */
export function addTag(set: ResponseHead, text: string): string {
  const etag = tagOfJson(text);
  set.headers["etag"] = etag;
  return etag;
}

interface Changed {
  readonly id: string;
  readonly updated_at: string;
}

/**
 * Stands for the representation where that also shows what is read or counted meanwhile: with another tag after each reply,
 * `If-Match` could not be met. `updatedAt` must be another one after each change.
 */
export function toVersion({ id, updatedAt }: { readonly id: string; readonly updatedAt: number }): object {
  return { id, updated_at: toRfc3339(updatedAt) };
}

/** The representation, with the `ETag` of its version. */
export function tagVersion<Wire extends Changed>(set: ResponseHead, wire: Wire): Wire {
  addTag(set, JSON.stringify({ id: wire.id, updated_at: wire.updated_at }));
  return wire;
}

/**
 * What `If-Match` asks of an object at the moment of its change: throws `precondition_failed` unless what `toVersion` makes
 * of it has one of the tags. Undefined without `If-Match`; throws `invalid_request` if it is malformed.
 */
export function readCheck<Current>(
  request: Request,
  toVersion: (current: Current) => object,
): ((current: Current) => void) | undefined {
  const header = request.headers.get(headerName);
  if (header === null || header.trim() === "*") return undefined;
  // No tag of ours has a comma, and one that has is none of ours.
  const tags = header.split(",").map((tag) => listedTag.exec(tag.trim()));
  if (tags.includes(null)) {
    throw invalidFields([
      { param: headerName, detail: 'Must be *, or ETags as they were received: "…", separated by commas.' },
    ]);
  }
  // A weak tag means that two representations are equivalent, not that nothing was changed in between.
  const strong = tags.flatMap((tag) => (tag?.[1] === undefined ? [tag?.[2]] : []));
  return (current) => {
    if (strong.includes(tagOfJson(JSON.stringify(toVersion(current))))) return;
    throw new AppError(
      "precondition_failed",
      `It was changed since the version that ${headerName} names. Read it again, and repeat the change.`,
    );
  };
}
