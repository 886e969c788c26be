/** The certificate store of a data directory: files that only the server's user reads, each replaced as a whole. */
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type CertificateStore,
  type CertificateStoreItem,
  certificateStoreItems,
  type UnreadableItem,
} from "../../contracts/certificates/certificate-store.ts";
import { codeOf } from "../../lib/error-code.ts";

const files: Readonly<Record<CertificateStoreItem, string>> = {
  account: "account.pem",
  certificate: "certificate.pem",
  attempts: "attempts.json",
};

/** `directory` is made when there is something to keep. */
export function createFileCertificateStore(directory: string): CertificateStore {
  const pathOf = (item: CertificateStoreItem) => join(directory, files[item]);

  return {
    isShared: false,

    async read() {
      const texts = await Promise.all(certificateStoreItems.map((item) => readItem(pathOf(item))));
      const [account = null, certificate = null, attempts = null] = texts;
      return { account, certificate, attempts };
    },

    async write(item, text) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const partial = `${pathOf(item)}.${process.pid}.partial`;
      try {
        const file = await open(partial, "w", 0o600);
        try {
          // One that a crash has left may have been opened to others since.
          await file.chmod(0o600);
          await file.writeFile(text);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(partial, pathOf(item));
      } catch (error) {
        await rm(partial, { force: true }).catch(() => {});
        throw error;
      }
      await settle(directory);
    },

    async remove(item) {
      await rm(pathOf(item), { force: true });
    },

    async setAside(item) {
      const aside = `${pathOf(item)}.unusable`;
      await rename(pathOf(item), aside);
      return aside;
    },

    async putChallenge() {},
    listChallenges: async () => new Map(),
    async clearChallenges() {},
  };
}

async function readItem(path: string): Promise<string | UnreadableItem | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return null;
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
}

/** Makes a new name in a directory outlast a power failure. */
async function settle(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
