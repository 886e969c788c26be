/** An authority that speaks ACME (RFC 8555) and checks each name over plain HTTP (http-01). */
import type { Authorization, Client, Order } from "acme-client";
import {
  type Authority,
  AuthorityFailure,
  type CertificateOrder,
  type RenewalWindow,
} from "../../contracts/certificates/authority.ts";
import { startDeadline, waitFor } from "../../lib/deadline.ts";
import {
  type AuthorityCall,
  type AuthorityFetch,
  type AuthorityResponse,
  callAuthority,
  type Line,
  readDirectory,
} from "./calls.ts";
import { toCheckFailure } from "./problems.ts";

/** Several networks check each name; the known authorities take seconds. */
const orderMs = 5 * 60_000;
const firstPauseMs = 50;
const maxPauseMs = 3_000;

export function createAcmeAuthority(directory: string, ask: AuthorityFetch = fetch): Authority {
  return {
    async makeAccountKey() {
      const { crypto } = await loadLibrary();
      return (await crypto.createPrivateEcdsaKey("P-256")).toString();
    },

    async order(order, signal) {
      const tooLate = () => new AuthorityFailure({ kind: "away", detail: "it did not finish the order in time" });
      const deadline = startDeadline(signal, orderMs, tooLate);
      try {
        return await fulfil(directory, order, { fetch: ask, signal: deadline.signal });
      } finally {
        deadline.end();
      }
    },

    findRenewalWindow: (cert, signal) => findRenewalWindow(directory, cert, { fetch: ask, signal }),
  };
}

/** The library's own failures are about answers that it cannot use. */
async function understand<Answer>(asking: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof AuthorityFailure || signal.aborted) throw error;
    const detail = error instanceof Error ? error.message : String(error);
    throw new AuthorityFailure({ kind: "unusable", detail }, error);
  }
}

/** Loaded for an order: most starts need none. By its parts, since the whole has twice as much that is not used. */
async function loadLibrary(): Promise<Pick<typeof import("acme-client"), "Client" | "crypto">> {
  const [client, crypto] = await Promise.all([
    import("acme-client/src/client.js"),
    import("acme-client/src/crypto/index.js"),
  ]);
  return { Client: client.default, crypto: crypto.default };
}

async function fulfil(directory: string, order: CertificateOrder, line: Line) {
  const { signal } = line;
  const { Client, crypto } = await loadLibrary();
  const { names, accountKey, email } = order;
  const client = new Client({ directoryUrl: directory, accountKey });
  takeOverRequests(client, line, directory);
  await understand(openAccount(client, email), signal);
  const identifiers = names.map((value) => ({ type: "dns", value }));
  const placed = await understand(client.createOrder({ identifiers }), signal);
  await proveNames(client, placed, order, signal);
  const key = await crypto.createPrivateEcdsaKey("P-256");
  const [, csr] = await crypto.createCsr({ altNames: [...names] }, key);
  // An order that was ready is finalized once: a repeated call would be refused.
  const finalized = await client.finalizeOrder(placed, csr);
  const issued = await poll(signal, finalized, () => client.getOrder(placed), isIssued);
  return { cert: await client.getCertificate(issued), key: key.toString() };
}

/** The library's own calls retry any failure for minutes, know no signal, and keep of a refusal nothing but its text. */
function takeOverRequests(client: Client, line: Line, directory: string): void {
  const isEncrypted = directory.startsWith("https://");
  const { http } = client as unknown as { http: { request: unknown } };
  http.request = (url: string, method: string, { data }: Partial<AuthorityCall> = {}) => {
    // An authority names the addresses itself (RFC 8555, section 6.1).
    if (isEncrypted && !url.startsWith("https://")) {
      throw new AuthorityFailure({ kind: "unusable", detail: "it names an address without HTTPS" });
    }
    if (url === directory) return readDirectory(url, line);
    return callAuthority(url, { method, data, headers: { "content-type": "application/jose+json" } }, line);
  };
}

/**
 * Not the library's own call, which changes an account that exists each time: authorities refuse that where no address is
 * given, since nothing would change.
 */
async function openAccount(client: Client, email: string | null): Promise<void> {
  const { api } = client as unknown as { api: { createAccount(data: object): Promise<AuthorityResponse> } };
  const contact = email === null ? [] : [`mailto:${email}`];
  const account = { termsOfServiceAgreed: true, ...(email === null ? {} : { contact }) };
  const { status, data } = await api.createAccount(account);
  const isNew = status === 201;
  const known = (data as { contact?: unknown }).contact;
  if (!isNew && email !== null && String(known) !== String(contact)) await client.updateAccount({ contact });
}

async function proveNames(client: Client, placed: Order, order: CertificateOrder, signal: AbortSignal): Promise<void> {
  const authorizations = await understand(client.getAuthorizations(placed), signal);
  // One that was proven for an earlier order holds for a while.
  const open = authorizations.filter(({ status }) => status !== "valid");
  const challenges = open.map((authorization) => findHttpChallenge(authorization));
  for (const challenge of challenges) {
    await order.putChallenge(challenge.token, await client.getChallengeKeyAuthorization(challenge));
  }
  for (const challenge of challenges) await client.completeChallenge(challenge);
  if (challenges.length === 0) return;
  await poll(signal, open, () => client.getAuthorizations(placed), areProven);
}

function findHttpChallenge({ challenges, identifier }: Authorization) {
  const challenge = challenges.find(({ type }) => type === "http-01");
  if (challenge !== undefined) return challenge;
  throw new AuthorityFailure({ kind: "refused", detail: "it does not offer http-01", domain: identifier.value });
}

function areProven(authorizations: readonly Authorization[]): boolean {
  for (const { status, identifier, challenges } of authorizations) {
    if (status === "valid" || status === "pending") continue;
    const failed = challenges.find(({ error }) => error !== undefined);
    throw toCheckFailure(failed?.error, identifier.value);
  }
  return authorizations.every(({ status }) => status === "valid");
}

function isIssued(order: Order): boolean {
  if (order.status === "invalid") throw toCheckFailure(order.error, null);
  return order.status === "valid";
}

async function poll<Item>(
  signal: AbortSignal,
  first: Item,
  check: () => Promise<Item>,
  isDone: (item: Item) => boolean,
): Promise<Item> {
  let item = first;
  for (let pauseMs = firstPauseMs; !isDone(item); pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    await waitFor(pauseMs, signal);
    item = await check();
  }
  return item;
}

/**
 * When the authority would have a certificate replaced (RFC 9773): before it revokes many, it publishes that there. Null
 * where the authority has no such information.
 */
async function findRenewalWindow(directory: string, cert: string, line: Line): Promise<RenewalWindow | null> {
  const { data } = await callAuthority(directory, { method: "get" }, line);
  const address = (data as { renewalInfo?: unknown }).renewalInfo;
  const id = nameCertificate(cert);
  if (typeof address !== "string" || id === null) return null;
  const answer = await callAuthority(`${address.replace(/\/$/, "")}/${id}`, { method: "get" }, line);
  const { suggestedWindow } = answer.data as { suggestedWindow?: { start?: unknown; end?: unknown } };
  const fromMs = Date.parse(String(suggestedWindow?.start));
  const toMs = Date.parse(String(suggestedWindow?.end));
  if (fromMs <= toMs) return { fromMs, toMs };
  throw new AuthorityFailure({ kind: "refused", detail: "its renewal information names no time" });
}

/** Key identifier of the issuer and serial number; null for a certificate without the former. */
export function nameCertificate(cert: string): string | null {
  const { X509Certificate } = process.getBuiltinModule("node:crypto");
  const { raw, serialNumber } = new X509Certificate(cert);
  const issuer = findIssuerKeyId(raw);
  if (issuer === null) return null;
  const hex = serialNumber.length % 2 === 0 ? serialNumber : `0${serialNumber}`;
  // A whole number in DER is signed.
  const serial = Buffer.from(/^[89a-f]/i.test(hex) ? `00${hex}` : hex, "hex");
  return `${issuer.toString("base64url")}.${serial.toString("base64url")}`;
}

/** The extension 2.5.29.35: an octet string with a sequence, whose element [0] is the identifier. */
const extensionId = Buffer.from("0603551d23", "hex");
const octetString = 0x04;
const sequence = 0x30;
const keyIdentifier = 0x80;

function findIssuerKeyId(der: Buffer): Buffer | null {
  const at = der.indexOf(extensionId);
  if (at === -1) return null;
  // All of it has fewer than 128 bytes, so that each length is one byte.
  const start = at + extensionId.length;
  const [outer, , inner, , tag, length = 0] = der.subarray(start, start + 6);
  if (outer !== octetString || inner !== sequence || tag !== keyIdentifier || length >= 0x80) return null;
  return Buffer.from(der.subarray(start + 6, start + 6 + length));
}
