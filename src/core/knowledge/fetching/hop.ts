/** One request to one URL: looked up, checked, connected to the address that was checked, read within bounds. */
import { isUntrustedCertificate } from "../../../lib/certificate.ts";
import { unlessAborted } from "../../../lib/deadline.ts";
import { type AddressRules, findAddresses } from "../../../lib/http/addresses.ts";
import { readBody } from "../../../lib/http/body-bytes.ts";
import { ConnectionError } from "../../../lib/http/connection.ts";
import { sendPinned } from "../../../lib/http/pinned.ts";
import { HttpProtocolError } from "../../../lib/http/response-reader.ts";
import { RefusedTarget, type Target } from "../../../lib/http/target.ts";
import { acceptedCodings, decompress } from "./decompression.ts";
import { FetchingFailure, failFetching } from "./failure.ts";

export interface HopOptions extends AddressRules {
  readonly maxBytes: number;
  readonly etag?: string | null | undefined;
  readonly lastModified?: string | null | undefined;
}

export interface HopResult {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** Decompressed; empty unless the status is 200. */
  readonly bytes: Buffer;
  readonly isCut: boolean;
}

/** Rejects with a `FetchingFailure`, or the signal's reason. */
export async function requestOnce(target: Target, options: HopOptions, signal: AbortSignal): Promise<HopResult> {
  try {
    const { addresses } = await unlessAborted(signal, findAddresses(target, options));
    const request = { target, addresses, method: "GET", headers: requestHeaders(options), body: null } as const;
    const { status, headers, body } = await sendPinned(request, signal);
    if (status !== 200) {
      body.cancel();
      return { status, headers, bytes: Buffer.alloc(0), isCut: false };
    }
    const raw = await readBody(body, options.maxBytes, signal);
    const read = await decompress(raw, headers.get("content-encoding") ?? "", options.maxBytes, signal);
    return { status, headers, ...read };
  } catch (error) {
    throw signal.aborted ? signal.reason : describe(error);
  }
}

function requestHeaders({ etag, lastModified }: HopOptions): [string, string][] {
  const headers: [string, string][] = [
    ["User-Agent", "companiond"],
    ["Accept", "text/html, application/xhtml+xml, text/markdown, text/plain, application/pdf, */*;q=0.5"],
    ["Accept-Encoding", acceptedCodings],
  ];
  if (isHeaderText(etag)) headers.push(["If-None-Match", etag]);
  if (isHeaderText(lastModified)) headers.push(["If-Modified-Since", lastModified]);
  return headers;
}

/** They were a host's words once: none may end the line. */
function isHeaderText(value: string | null | undefined): value is string {
  return value !== undefined && value !== null && /^[\x20-\x7e]{1,500}$/.test(value);
}

function describe(error: unknown): unknown {
  if (error instanceof FetchingFailure) return error;
  if (error instanceof RefusedTarget) return failFetching(error.fault);
  if (!(error instanceof ConnectionError)) return error;
  if (error.cause instanceof HttpProtocolError) return failFetching("notHttp");
  const code = error.code ?? "";
  if (isUntrustedCertificate(code) || code === "ERR_TLS_CERT_ALTNAME_INVALID") return failFetching("certificate");
  return failFetching(error.message.includes("broke off") ? "brokenOff" : "unreachable");
}
