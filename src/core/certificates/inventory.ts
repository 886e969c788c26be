/** What the certificate store holds, as values; unusable entries are moved aside and logged. */
import type {
  CertificateStore,
  CertificateStoreItem,
  UnreadableItem,
} from "../../contracts/certificates/certificate-store.ts";
import type { Log } from "../../lib/log.ts";
import { type Attempts, readAttempts } from "./attempts.ts";
import { describe } from "./sentences.ts";
import { readStoredCertificate, type StoredCertificate } from "./stored-certificate.ts";

export interface Inventory {
  readonly accountKey: string | null;
  readonly certificate: StoredCertificate | null;
  readonly attempts: Attempts | null;
}

interface Reading {
  store: CertificateStore;
  log: Log;
  /** False for callers that only read: then nothing is moved aside or logged. */
  mayTidy: boolean;
}

/** Rejects if the store cannot be reached. */
export async function takeInventory(reading: Reading): Promise<Inventory> {
  const contents = await reading.store.read();
  const account = await readItem(reading, "account", contents.account, readAccountKey);
  const certificate = await readItem(reading, "certificate", contents.certificate, readStoredCertificate);
  // Unreadable attempts delay nothing.
  const attempts = typeof contents.attempts === "string" ? readAttempts(contents.attempts) : null;
  return { accountKey: account, certificate, attempts };
}

async function readItem<Value>(
  { store, log, mayTidy }: Reading,
  item: CertificateStoreItem,
  text: string | UnreadableItem | null,
  read: (text: string) => Value,
): Promise<Value | null> {
  if (text === null) return null;
  let reason: string;
  try {
    if (typeof text === "string") return read(text);
    reason = text.unreadable;
  } catch (error) {
    reason = describe(error);
  }
  if (!mayTidy) return null;
  const keptAs = await store.setAside(item);
  const what = item === "account" ? "account key" : "certificate";
  log.warn(`the stored ${what} cannot be used: a new one is made`, {
    reason,
    ...(keptAs === null ? {} : { keptAs }),
  });
  return null;
}

function readAccountKey(text: string): string {
  try {
    process.getBuiltinModule("node:crypto").createPrivateKey(text);
  } catch (error) {
    throw new Error("it is not a private key in PEM", { cause: error });
  }
  return text;
}
