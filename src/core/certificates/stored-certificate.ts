/** A certificate as the store holds it: PEM with a few words before it, and the fields parsed from that. */
import { type Certificate, readCertificateExpiry } from "../../lib/certificate.ts";

export interface StoredCertificate extends Certificate {
  /** In lower case and sorted. */
  readonly names: readonly string[];
  readonly validFromMs: number;
  readonly expiresAtMs: number;
  /** The directory of the authority; null if the words are gone. */
  readonly authority: string | null;
  /** By the clock of the server that ordered it; null if the words are gone. */
  readonly obtainedAtMs: number | null;
}

export interface Origin {
  readonly authority: string;
  readonly obtainedAtMs: number;
}

/** One text, so that chain and key are replaced together. What stands before PEM is left to people (RFC 7468). */
export function formatCertificate({ cert, key }: Certificate, { authority, obtainedAtMs }: Origin): string {
  const words = [`Authority: ${authority}`, `Obtained: ${new Date(obtainedAtMs).toISOString()}`];
  return `${words.join("\n")}\n${key.trim()}\n${cert.trim()}\n`;
}

/** Throws an `Error` with what is wrong, as part of a sentence. */
export function readStoredCertificate(text: string): StoredCertificate {
  const cert = [...text.matchAll(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)].join("\n");
  const key = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[^-]*-----END \1-----/.exec(text)?.[0];
  if (cert === "" || key === undefined) throw new Error("it is not a certificate with its key in PEM");
  const expiresAtMs = readCertificateExpiry({ cert, key });
  const { X509Certificate } = process.getBuiltinModule("node:crypto");
  const { subjectAltName = "", validFrom } = new X509Certificate(cert);
  const names = [...subjectAltName.matchAll(/DNS:([^,\s"]+)/g)].map(([, name = ""]) => name.toLowerCase()).sort();
  const obtainedAtMs = Date.parse(findWord(text, "Obtained") ?? "");
  return {
    cert: `${cert}\n`,
    key: `${key}\n`,
    names,
    validFromMs: Date.parse(validFrom),
    expiresAtMs,
    authority: findWord(text, "Authority"),
    obtainedAtMs: Number.isNaN(obtainedAtMs) ? null : obtainedAtMs,
  };
}

function findWord(text: string, word: string): string | null {
  return new RegExp(`^${word}: (\\S+)$`, "m").exec(text)?.[1] ?? null;
}

export function isForNames({ names }: Pick<StoredCertificate, "names">, wanted: readonly string[]): boolean {
  return names.join() === [...new Set(wanted)].sort().join();
}
