/** Conditional requests: `ETag`, `If-None-Match` and `If-Match` (RFC 9110, 13). */
import { AppError, invalidFields } from "../domain/errors.ts";
import { matchesTag } from "../lib/entity-tag.ts";
import { sha256 } from "../lib/sha256.ts";
import { JsonText, type ResponseHead } from "./json-response.ts";

const headerName = "If-Match";
const listedTag = /^(W\/)?("[\x21\x23-\x7e\x80-\xff]*")$/;

/** The strong tag of a representation: it changes if, and only if, that does. */
function tagOfJson(text: string): string {
  return `"${Buffer.from(sha256(text)).toString("base64url").slice(0, 22)}"`;
}

/** The representation with its `ETag`; 304 for a client that has it already. */
export function respondVersioned(request: Request, set: ResponseHead, wire: object): JsonText | Response {
  const text = JSON.stringify(wire);
  const etag = addTag(set, text);
  if (request.method === "GET" && matchesTag(request.headers.get("if-none-match"), etag)) {
    return new Response(null, { status: 304 });
  }
  return new JsonText(text);
}

/** Adds the `ETag` of a response's text. */
export function addTag(set: ResponseHead, text: string): string {
  const etag = tagOfJson(text);
  set.headers["etag"] = etag;
  return etag;
}

/** Throws `precondition_failed` unless the representation is one of those that the client knows. */
export type Precondition = (wire: object) => void;

/** What `If-Match` asks for, or null without one; throws `invalid_request` if it is malformed. */
export function readPrecondition(request: Request): Precondition | null {
  const header = request.headers.get(headerName);
  if (header === null || header.trim() === "*") return null;
  // No tag of ours has a comma, and one that has is none of ours.
  const tags = header.split(",").map((tag) => listedTag.exec(tag.trim()));
  if (tags.includes(null)) {
    throw invalidFields([
      { param: headerName, detail: 'Must be *, or ETags as they were received: "…", separated by commas.' },
    ]);
  }
  // A weak tag says that two representations mean the same, not that nothing was changed in between.
  const strong = tags.flatMap((tag) => (tag?.[1] === undefined ? [tag?.[2]] : []));
  return (wire) => {
    if (strong.includes(tagOfJson(JSON.stringify(wire)))) return;
    throw new AppError(
      "precondition_failed",
      `It was changed since the version that ${headerName} names. Read it again, and repeat the change.`,
    );
  };
}
