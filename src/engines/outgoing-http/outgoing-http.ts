/** Sends requests over our own sockets, each to an address that was checked for it. */
import {
  type OpenedResponse,
  OutgoingBreak,
  type OutgoingHttp,
  type OutgoingRequest,
} from "../../contracts/outgoing-http.ts";
import { type AllowedHost, standingOf } from "../../lib/allowed-hosts.ts";
import { startDeadline, unlessAborted } from "../../lib/deadline.ts";
import { type AddressRules, findAddresses, findLiteral, systemResolve } from "../../lib/http/addresses.ts";
import { readBody } from "../../lib/http/body-bytes.ts";
import { streamBody } from "../../lib/http/body-stream.ts";
import type { HttpResponse } from "../../lib/http/exchange.ts";
import { isFramingHeader, isHeaderName, isHeaderValue } from "../../lib/http/header-fields.ts";
import { sendPinned } from "../../lib/http/pinned.ts";
import { maxUrlLength, RefusedTarget, readTarget, type Target } from "../../lib/http/target.ts";
import { isOwnAddress } from "../../lib/own-addresses.ts";
import { Late, Refusal, sentenceOf, toFailure } from "./failures.ts";

/** The optional ones are what tests replace. */
export interface OutgoingOptions
  extends Pick<AddressRules, "allowed" | "ownHosts">,
    Partial<Pick<AddressRules, "isOwn" | "resolve">> {}

export function createOutgoingHttp(options: OutgoingOptions): OutgoingHttp {
  const { allowed } = options;
  const rules = { isOwn: isOwnAddress, resolve: systemResolve, ...options };

  /** Rejects with what `toFailure` takes, or the signal's reason. */
  async function request(given: OutgoingRequest, signal: AbortSignal): Promise<HttpResponse> {
    const target = read(given.url, allowed);
    const headers = toFields(given.headers);
    const { addresses, areListed } = await unlessAborted(signal, findAddresses(target, rules));
    if (target.url.protocol === "http:" && !areListed) throw new Refusal("http");
    const { method, body = method === "POST" ? "" : null } = given;
    const bytes = typeof body === "string" ? Buffer.from(body, "utf8") : body;
    return await sendPinned({ target, addresses, method, headers, body: bytes }, signal);
  }

  /** `work` has the request's time; what fails becomes a value. */
  async function within<Result>(
    { timeoutMs }: OutgoingRequest,
    signal: AbortSignal,
    work: (signal: AbortSignal, onHead: (status: number) => void) => Promise<Result>,
  ) {
    signal.throwIfAborted();
    let status: number | null = null;
    const deadline = startDeadline(signal, timeoutMs, () => new Late());
    try {
      return await work(deadline.signal, (received) => {
        status = received;
      });
    } catch (error) {
      signal.throwIfAborted();
      return toFailure(error, { timeoutMs, status });
    } finally {
      deadline.end();
    }
  }

  return {
    findFault(url) {
      try {
        const target = read(url, allowed);
        checkName(target, options);
        return null;
      } catch (error) {
        if (error instanceof Refusal) return sentenceOf(error.reason);
        if (error instanceof RefusedTarget) return sentenceOf(error.fault);
        throw error;
      }
    },
    open: (given, signal) =>
      within(given, signal, async (whileOpening): Promise<OpenedResponse> => {
        const { status, headers, body } = await request(given, whileOpening);
        const stream = streamBody(body, signal);
        async function* iterate() {
          try {
            yield* stream;
          } catch (error) {
            signal.throwIfAborted();
            throw new OutgoingBreak(toFailure(error, { timeoutMs: given.timeoutMs, status }), error);
          }
        }
        return { outcome: "opened", status, headers, body: { [Symbol.asyncIterator]: iterate, close: stream.close } };
      }),
    send: (given, signal) =>
      within(given, signal, async (whileSending, onHead) => {
        const { status, headers, body } = await request(given, whileSending);
        onHead(status);
        if (!/^(identity)?$/i.test(headers.get("content-encoding") ?? "")) {
          body.cancel();
          throw new Refusal("compressed");
        }
        const { bytes, isCut } = await readBody(body, given.maxBytes, whileSending);
        if (isCut) throw new Refusal("large");
        return { outcome: "received" as const, status, headers, body: bytes };
      }),
  };
}

/** Throws `Refusal` or `RefusedTarget`. */
function read(text: string, allowed: readonly AllowedHost[]): Target {
  if (text.length > maxUrlLength) throw new Refusal("length");
  const url = URL.parse(text);
  if (url === null) throw new Refusal("scheme");
  return readTarget(url, allowed);
}

/** What `findAddresses` would refuse of the host, as far as no lookup is needed. */
function checkName({ url, host, port }: Target, { allowed, ownHosts }: OutgoingOptions): void {
  const ip = findLiteral(host);
  const isNamed = allowed.some((one) => one.kind === "host" && one.host === host && (one.port ?? port) === port);
  const standing = ip === null ? (isNamed ? "listed" : "public") : standingOf(allowed, { host, port, address: ip });
  // A name may lead into a range that is listed.
  const mayBeListed = standing === "listed" || (ip === null && allowed.some(({ kind }) => kind === "range"));
  if (standing === "refused" || (ownHosts.includes(host) && !mayBeListed)) throw new Refusal("notPublic");
  if (url.protocol === "http:" && !mayBeListed) throw new Refusal("http");
}

function toFields(given: OutgoingRequest["headers"]): [string, string][] {
  const fields = new Map([
    ["user-agent", "companiond"],
    ["accept-encoding", "identity"],
  ]);
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    if (!isHeaderName(name) || isFramingHeader(name) || !isHeaderValue(value) || seen.has(lower))
      throw new Refusal("header");
    seen.add(lower);
    fields.set(lower, value);
  }
  return [...fields];
}
