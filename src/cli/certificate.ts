/** The certificate named by `serve --tls-cert --tls-key`, reloaded on SIGHUP. */
import { readFileSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { explainCredential } from "../config/text-file.ts";
import { type Certificate, readCertificateExpiry } from "../lib/certificate.ts";
import type { Log } from "../lib/log.ts";
import type { RunningServer } from "../server/server.ts";
import { SettingFailure } from "./command.ts";
import type { ProcessUser } from "./process-user.ts";

/** Null if plain HTTP is served. Throws `SettingFailure` if the files are unusable. */
export function loadCertificate(
  { server: { tls } }: Config,
  forFile: ProcessUser["forFile"] = (_, work) => work(),
): Certificate | null {
  if (tls === null) return null;
  const cert = forFile(tls.certFile, () => readPem("--tls-cert (COMPANIOND_TLS_CERT)", tls.certFile));
  const key = forFile(tls.keyFile, () => readPem("--tls-key (COMPANIOND_TLS_KEY)", tls.keyFile));
  try {
    readCertificateExpiry({ cert, key });
  } catch (error) {
    throw new SettingFailure(`--tls-cert and --tls-key (COMPANIOND_TLS_…): ${describe(error)}.`);
  }
  return { cert, key };
}

/** Loads the files again. Never throws: if they are unusable, the server keeps its certificate. */
export function reloadCertificate(config: Config, server: RunningServer, log: Log): void {
  try {
    const certificate = loadCertificate(config);
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

function readPem(setting: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new SettingFailure(`${setting}: ${describe(error)}${explainCredential(file)}`);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
