/** The certificate that `serve --tls-cert --tls-key` names, read anew on SIGHUP. */
import { readFile } from "node:fs/promises";
import type { Config } from "../config.ts";
import { type Certificate, readCertificateExpiry } from "../lib/certificate.ts";
import type { Log } from "../lib/log.ts";
import type { RunningServer } from "../server.ts";
import { CommandFailure } from "./command.ts";

/** Throws `CommandFailure` where the files cannot serve; null where plain HTTP is served. */
export async function loadCertificate({ server: { tls } }: Config): Promise<Certificate | null> {
  if (tls === null) return null;
  // One after the other: where both are absent, the same one is named every time.
  const cert = await readPem("--tls-cert", tls.certFile);
  const key = await readPem("--tls-key", tls.keyFile);
  try {
    readCertificateExpiry({ cert, key });
  } catch (error) {
    throw new CommandFailure(`--tls-cert and --tls-key: ${describe(error)}.`);
  }
  return { cert, key };
}

/** Takes up what the files hold now. Never rejects: with files that cannot serve, the server goes on as before. */
export async function reloadCertificate(config: Config, server: RunningServer, log: Log): Promise<void> {
  try {
    const certificate = await loadCertificate(config);
    if (certificate === null) {
      log.info("nothing to reload: no certificate is served");
      return;
    }
    server.replaceCertificate(certificate);
    log.info("certificate reloaded", { expires: new Date(readCertificateExpiry(certificate)).toISOString() });
  } catch (error) {
    log.error("certificate not reloaded, the one before stays", { reason: describe(error) });
  }
}

async function readPem(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CommandFailure(`${flag}: ${describe(error)}`);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
