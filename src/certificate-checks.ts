/** What lies on the shelf of certificates, for `doctor` where no server runs. */
import { join } from "node:path";
import type { CertificateState } from "./certificates/certificate-keeper.ts";
import type { Config } from "./config.ts";
import { processLog } from "./lib/log.ts";

/** Null without `--domain`, or if the certificate is in a database, where only a server can open it. Changes nothing. */
export async function findStoredCertificate({
  server: { acme },
  database,
  dataDir,
}: Pick<Config, "server" | "database" | "dataDir">): Promise<CertificateState | null> {
  if (acme === null || database !== null) return null;
  const [{ createFileShelf }, { takeInventory }] = await Promise.all([
    import("./certificates/file-shelf.ts"),
    import("./certificates/inventory.ts"),
  ]);
  const shelf = createFileShelf(join(dataDir, "certificates"));
  const { certificate, attempts } = await takeInventory({ shelf, log: processLog(), mayTidy: false });
  return {
    domains: acme.domains,
    expiresAtMs: certificate?.expiresAtMs ?? null,
    nextAttemptAtMs: attempts?.nextMs ?? null,
    problem: attempts?.problem ?? null,
  };
}
