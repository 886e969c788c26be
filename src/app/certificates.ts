/** Picks the engines of the certificate's sockets. */
import { join } from "node:path";
import type { CertificateStore } from "../contracts/certificates/certificate-store.ts";
import type { ManagedCertificates } from "../contracts/certificates/certificates.ts";
import type { CertificateTexts } from "../contracts/store/certificate-texts.ts";
import type { CertificateOptions } from "../core/certificates/certificate-options.ts";
import { openManagedCertificates } from "../core/certificates/managed-certificates.ts";
import { createNameCheck } from "../core/certificates/name-check.ts";
import { createAcmeAuthority } from "../engines/acme/acme-authority.ts";
import { createFileCertificateStore } from "../engines/certificate-stores/files.ts";
import { createSharedCertificateStore } from "../engines/certificate-stores/shared.ts";
import type { Probe } from "../lib/probe.ts";
import type { Sealing } from "../lib/sealing.ts";

interface CertificateStoreParts {
  dataDir: string;
  /** Null: the certificate is in the data directory. */
  texts: CertificateTexts | null;
  sealing: Pick<Sealing, "seal" | "open">;
}

interface Wiring extends Pick<CertificateOptions, "duties" | "clock" | "log"> {
  /** Those of the certificates are added. */
  measurements: { readonly probes: Probe[] };
}

interface Domains {
  readonly domains: readonly string[];
  readonly email: string | null;
  readonly directory: string;
}

const outcomes = ["obtained", "failed"] as const;

export async function openCertificates(
  { domains, email, directory }: Domains,
  parts: CertificateStoreParts,
  { measurements, ...wiring }: Wiring,
): Promise<ManagedCertificates> {
  const counts = { obtained: 0, failed: 0 };
  const certificates = await openManagedCertificates({
    ...wiring,
    names: domains,
    email,
    directory,
    authority: createAcmeAuthority(directory),
    store: openCertificateStore(parts),
    checkName: createNameCheck(),
    count: (outcome) => void counts[outcome]++,
  });
  for (const outcome of outcomes) {
    measurements.probes.push({
      name: "companiond_certificate_orders_total",
      help: "Attempts to obtain a certificate, by what became of them.",
      labels: { outcome },
      read: () => counts[outcome],
    });
  }
  measurements.probes.push({
    name: "companiond_certificate_failing",
    help: "Whether the certificate of --domain cannot be obtained or renewed now.",
    read: () => (certificates.state.problem === null ? 0 : 1),
  });
  return certificates;
}

function openCertificateStore({ dataDir, texts, sealing }: CertificateStoreParts): CertificateStore {
  return texts === null
    ? createFileCertificateStore(join(dataDir, "certificates"))
    : createSharedCertificateStore(texts, sealing);
}
