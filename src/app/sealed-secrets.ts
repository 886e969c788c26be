/** The key for sealed secrets: where it comes from, when it is created, and the proof that it is still the same. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Store } from "../contracts/store/store.ts";
import { AppError } from "../domain/errors.ts";
import { createSealing, makeSealingKey, readSealingKey, type Sealing } from "../lib/sealing.ts";

export interface SealedSecrets extends Sealing {
  /** Whether anything was ever sealed, by any key. */
  hasSealed(): Promise<boolean>;
  /** Throws `unavailable`, naming the key, if the sealed secrets cannot be opened. One query if there are none. */
  check(): Promise<void>;
}

interface SealedSecretsOptions {
  /** As given, 32 bytes in base64. Null: it is in a file in the data directory, created on first use. */
  secretKey: string | null;
  dataDir: string;
  store: Pick<Store, "serverSecrets" | "secondFactors" | "tools" | "visitorKeys" | "webhooks">;
  /** How many other servers run on this database; null where there can be none. They must all have one key. */
  countOthers?: (() => Promise<number>) | null;
}

const proofName = "proof";
const proofText = "companiond";
/** How many of the accounts that a lost key affects are named. */
const namedHolders = 10;

export function createSealedSecrets({
  secretKey,
  dataDir,
  store,
  countOthers = null,
}: SealedSecretsOptions): SealedSecrets {
  const location = { secretKey, dataDir };
  const source = nameKey(location);
  let opened: Promise<Sealing> | null = null;

  /** The key, proven to be the one that sealed everything else. */
  async function openProven(): Promise<Sealing> {
    const proof = await store.serverSecrets.find(proofName);
    const isBound = proof !== null && (await hasHolders());
    const key = await openKey(location, !isBound);
    if (proof !== null && (await isProof(key, proof))) return key;
    if (isBound) throw new Error(`${source} is a different key than before`);
    if (proof !== null && countOthers !== null && (await countOthers()) > 0) throw keyDiffers(source);
    const sealed = await key.seal(proofName, proofText);
    // The lost key sealed nothing that is left, so its proof is replaced too.
    if (proof !== null) await store.serverSecrets.replace(proofName, sealed);
    else if (!(await isProof(key, await store.serverSecrets.keep(proofName, sealed)))) return openProven();
    return key;
  }

  function use(): Promise<Sealing> {
    // Retry after a failure: the key may have been put back.
    opened ??= openProven().catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  }

  return {
    seal: async (name, text) => (await use()).seal(name, text),
    open: async (name, sealed) => (await use()).open(name, sealed),
    digest: async (name, text) => (await use()).digest(name, text),
    hasSealed: async () => (await store.serverSecrets.find(proofName)) !== null,
    async check() {
      const proof = await store.serverSecrets.find(proofName);
      const problem = proof === null ? null : await findKeyProblem(location, proof);
      if (problem !== null) {
        const lost = await listLost();
        if (lost.length > 0) throw keyLost(problem, lost);
      }
      // Servers that share a database agree on the key before anything is sealed.
      if (countOthers !== null) await use();
    },
  };

  async function hasHolders(): Promise<boolean> {
    for (const holding of [store.secondFactors, store.visitorKeys, store.tools, store.webhooks]) {
      if ((await holding.listHolders(1)).length > 0) return true;
    }
    return false;
  }

  /** What cannot be opened without the key, and what gives it up. */
  async function listLost(): Promise<LostSecrets[]> {
    const kinds = [
      { what: "second factors", command: "reset-totp <email>", holding: store.secondFactors },
      { what: "visitor keys", command: "reset-visitor-keys <email> --yes", holding: store.visitorKeys },
      { what: "tools", command: "reset-tools <email> --yes", holding: store.tools },
      { what: "webhooks", command: "reset-webhooks <email> --yes", holding: store.webhooks },
    ];
    const lost: LostSecrets[] = [];
    for (const { what, command, holding } of kinds) {
      const holders = await holding.listHolders(namedHolders + 1);
      if (holders.length > 0) lost.push({ what, command, holders });
    }
    return lost;
  }
}

type KeyLocation = Pick<SealedSecretsOptions, "secretKey" | "dataDir">;

/** The setting, or the file. */
export function nameKey({ secretKey, dataDir }: KeyLocation): string {
  return secretKey === null ? join(dataDir, "secret.key") : "COMPANIOND_SECRET_KEY";
}

function openKey(location: KeyLocation, mayMake: boolean): Promise<Sealing> {
  const path = nameKey(location);
  const text = location.secretKey ?? readKeyFile(path) ?? (mayMake ? makeKeyFile(path) : null);
  if (text === null) throw new Error(`${path} is missing, and COMPANIOND_SECRET_KEY is not set`);
  const key = readSealingKey(text);
  if (key === null) throw new Error(`${path} does not contain 32 bytes in base64`);
  return createSealing(key);
}

/** Why this key does not open what is sealed, as the end of a sentence; null if it does. Without a proof, it only has to be one. */
export async function findKeyProblem(location: KeyLocation, proof: string | null): Promise<string | null> {
  try {
    const key = await openKey(location, false);
    return proof === null || (await isProof(key, proof))
      ? null
      : `${nameKey(location)} is not the key that sealed them`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Whether this key, 32 bytes in base64, is the one that made the proof in the database. */
export async function opensProof(secretKey: string, proof: string): Promise<boolean> {
  const key = readSealingKey(secretKey);
  return key !== null && (await isProof(await createSealing(key), proof));
}

async function isProof(key: Sealing, sealed: string): Promise<boolean> {
  try {
    return (await key.open(proofName, sealed)) === proofText;
  } catch {
    return false;
  }
}

function keyDiffers(source: string): AppError {
  return new AppError(
    "unavailable",
    `${source} is not the key of the other servers that run on this database. Give all of them the same one.`,
  );
}

interface LostSecrets {
  what: string;
  /** The command that gives them up for one account. */
  command: string;
  /** E-mail addresses. */
  holders: readonly string[];
}

function keyLost(problem: string, lost: readonly LostSecrets[]): AppError {
  const all = lost.map(({ what }) => what).join(" and the ");
  const commands = lost.map(({ what, command, holders }) => {
    const named = holders.slice(0, namedHolders).join(", ");
    const whose = holders.length > namedHolders ? `${named} and others` : named;
    return `"companiond account ${command}" for each account that has ${what} (${whose})`;
  });
  return new AppError(
    "unavailable",
    `the ${all} in the database cannot be opened: ${problem}. Put the key back. If it is lost, run ` +
      `${commands.join(", and ")}; they are set up again then.`,
  );
}

function readKeyFile(path: string): string | null {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return null;
  // Reading a pipe would wait for ever, and no signal would end it.
  if (!facts.isFile()) throw new Error(`${path} is not a regular file`);
  return readFileSync(path, "utf8").trim();
}

/**
 * Written to disk in full, readable only by its owner, before it seals anything; another process may have been first.
 */
function makeKeyFile(path: string): string {
  const partial = `${path}.${process.pid}.partial`;
  rmSync(partial, { force: true });
  // Never through a link that someone put there.
  const file = openSync(partial, "wx", 0o600);
  try {
    writeSync(file, `${makeSealingKey()}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    linkSync(partial, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(partial, { force: true });
  }
  return readFileSync(path, "utf8").trim();
}
