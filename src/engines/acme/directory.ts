/** The directory of an authority (RFC 8555, section 7.1.1): the one address that an operator types. */
import { AuthorityFailure } from "../../contracts/certificates/authority.ts";
import { type AuthorityResponse, askAuthority, type Line } from "./calls.ts";
import { toFailure } from "./problems.ts";

const needed = ["newNonce", "newAccount", "newOrder"];

/** Rejects with the kind `directory` for whatever answers there and is none: asking again would not help. */
export async function readDirectory(url: string, line: Line): Promise<AuthorityResponse> {
  const answer = await askAuthority(url, { method: "get" }, line);
  const { status, headers, data } = answer;
  if (status === 429 || status >= 500) throw toFailure(answer);
  const location = headers["location"] === undefined ? "" : `, and points to ${headers["location"]}`;
  if (status !== 200) throw new AuthorityFailure({ kind: "directory", detail: `status ${status}${location}` });
  const named = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
  const missing = needed.filter((name) => typeof named[name] !== "string");
  if (missing.length === 0) return answer;
  const detail = missing.length === needed.length ? "no addresses of ACME in it" : `no ${missing.join(" and ")} in it`;
  throw new AuthorityFailure({ kind: "directory", detail });
}
