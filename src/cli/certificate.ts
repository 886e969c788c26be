/** The certificate named by `serve --tls-cert --tls-key`, reloaded on SIGHUP. */
import { readFile } from "node:fs/promises";
import type { Config } from "../config.ts";
import { type Certificate, readCertificateExpiry } from "../lib/certificate.ts";
import type { Log } from "../lib/log.ts";
import type { RunningServer } from "../server.ts";
import { SettingFailure } from "./command.ts";

/** Null if plain HTTP is served. Throws `SettingFailure` if the files are unusable. */
export async function loadCertificate({ server: { tls } }: Config): Promise<Certificate | null> {
  if (tls === null) return null;
  // In sequence, so that the same file is always reported if both are missing.
  const cert = await readPem("--tls-cert", tls.certFile);
  const key = await readPem("--tls-key", tls.keyFile);
  try {
    readCertificateExpiry({ cert, key });
  } catch (error) {
    throw new SettingFailure(`--tls-cert and --tls-key: ${describe(error)}.`);
  }
  return { cert, key };
}

/** Loads the files again. Never rejects: if they are unusable, the server keeps its certificate. */
export async function reloadCertificate(config: Config, server: RunningServer, log: Log): Promise<void> {
  try {
    const certificate = await loadCertificate(config);
    if (certificate === null) {
      log.info("nothing to reload: the server has no certificate");
      return;
    }
    server.replaceCertificate(certificate);
    log.info("certificate reloaded", { expires: new Date(readCertificateExpiry(certificate)).toISOString() });
  } catch (error) {
    log.error("certificate not reloaded, keeping the current one", { reason: describe(error) });
  }
}

async function readPem(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new SettingFailure(`${flag}: ${describe(error)}`);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
