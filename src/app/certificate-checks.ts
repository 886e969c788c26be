/** What `doctor` sees of certificates itself: the certificate store where no server runs, and whether there is an authority. */
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { CertificateState } from "../contracts/certificates/certificates.ts";
import { processLog } from "../lib/log.ts";

const authorityMs = 10_000;

/** Null without `--domain`, or if the certificate is in a database, where only a server can open it. Changes nothing. */
export async function findStoredCertificate({
  server: { acme },
  database,
  dataDir,
}: Pick<Config, "server" | "database" | "dataDir">): Promise<CertificateState | null> {
  if (acme === null || database !== null) return null;
  const [{ createFileCertificateStore }, { takeInventory }] = await Promise.all([
    import("../engines/certificate-stores/files.ts"),
    import("../core/certificates/inventory.ts"),
  ]);
  const store = createFileCertificateStore(join(dataDir, "certificates"));
  const { certificate, attempts } = await takeInventory({ store, log: processLog(), mayTidy: false });
  return {
    domains: acme.domains,
    expiresAtMs: certificate?.expiresAtMs ?? null,
    nextAttemptAtMs: attempts?.nextMs ?? null,
    problem: attempts?.problem ?? null,
  };
}

/**
 * Why no certificate can be ordered at this directory; null if an authority answers there. `isPassing`: it may answer
 * later without a change here. Orders nothing.
 */
export async function findAuthorityProblem(
  directory: string,
  nowMs: number,
): Promise<{ sentence: string; isPassing: boolean } | null> {
  const [{ readDirectory }, { AuthorityFailure }, { explainFailure }] = await Promise.all([
    import("../engines/acme/calls.ts"),
    import("../contracts/certificates/authority.ts"),
    import("../core/certificates/sentences.ts"),
  ]);
  try {
    await readDirectory(directory, { fetch, signal: AbortSignal.timeout(authorityMs) });
    return null;
  } catch (error) {
    const late = new AuthorityFailure({ kind: "away", detail: `it did not answer within ${authorityMs / 1000} s` });
    const failure = error instanceof AuthorityFailure ? error : late;
    const sentence = explainFailure(failure, { directory, nowMs, findings: [] });
    return { sentence, isPassing: failure.kind === "away" || failure.kind === "limited" };
  }
}
