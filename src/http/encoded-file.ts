/** Files of our own in prepared encodings: which one a client gets, with the tag by which it asks again. */
import { matchesTag } from "../lib/entity-tag.ts";

export type FileEncoding = "br" | "gzip" | "identity";

export interface EncodedFile {
  bytes: Uint8Array<ArrayBuffer>;
  contentType: string;
  encoding: FileEncoding;
  /** Differs by encoding, as strong ETags must. */
  etag: string;
}

/** Short, so that a new version reaches everybody within minutes, without any change elsewhere. */
export const stableCaching = "public, max-age=300, stale-while-revalidate=3600";

/** The file, or 304 if the client has it. */
export function respondFile(request: Request, file: EncodedFile, others: Record<string, string>): Response {
  const { bytes, contentType, encoding, etag } = file;
  const headers: Record<string, string> = { etag, vary: "Accept-Encoding", ...others };
  if (matchesTag(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  headers["content-type"] = contentType;
  if (encoding !== "identity") headers["content-encoding"] = encoding;
  return new Response(bytes, { headers });
}

/** The smallest encoding that the client accepts; `q=0` is a refusal. */
export function chooseFileEncoding(acceptEncoding: string | null): FileEncoding {
  const accepted = new Map<string, boolean>();
  for (const part of (acceptEncoding ?? "").toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    accepted.set(name, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)));
  }
  const any = accepted.get("*") ?? false;
  if (accepted.get("br") ?? any) return "br";
  return (accepted.get("gzip") ?? any) ? "gzip" : "identity";
}
