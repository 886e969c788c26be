/** When the authority would have a certificate replaced (RFC 9773): before it revokes many, it says so there. */
import { AuthorityFailure, type RenewalWindow } from "../../contracts/certificates/authority.ts";
import { callAuthority, type Line } from "./calls.ts";

/** Null where the authority has no such information. */
export async function findRenewalWindow(directory: string, cert: string, line: Line): Promise<RenewalWindow | null> {
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
