/** What is checked of settings and of what they name: by a running server for its own, otherwise by the command. */
import type { Config } from "../../config/config.ts";
import type { Finding, SelfCheck } from "../../domain/finding.ts";
import { examineBackupStorage } from "./backup-storage.ts";
import { examineAuthority, examineDomains } from "./certificates.ts";
import { examineDatabase } from "./database.ts";
import { describeFailure, fail, ok, warn } from "./finding.ts";
import { examineKey } from "./key.ts";
import { examineShutdownDates } from "./models.ts";
import { examineCertificate, examineProxy, examinePublicUrl } from "./network.ts";
import { examineClock, examineEmbeddings, examineLlm, examinePrices, examineVoice } from "./providers.ts";
import { examineReading } from "./reading.ts";
import { examineRedis } from "./redis.ts";

export function listLooks(config: Config, nowMs: number, servedUntilMs: number | null = null): SelfCheck[] {
  return [
    { name: "configuration", look: () => examineNames(config) },
    { name: "backups off the machine", look: () => examineBackupStorage(config) },
    { name: "database", look: () => examineDatabase(config) },
    { name: "secret key", look: () => examineKey(config) },
    { name: "redis", look: () => examineRedis(config) },
    { name: "clock", look: () => examineClock(config, nowMs) },
    { name: "certificate", look: () => examineCertificate(config, nowMs, servedUntilMs) },
    { name: "authority", look: () => examineAuthority(config, nowMs) },
    { name: "domain", look: () => examineDomains(config) },
    { name: "proxy headers", look: () => examineProxy(config) },
    { name: "public URL", look: () => examinePublicUrl(config) },
    { name: "language model", look: () => examineLlm(config) },
    { name: "model", look: () => examineShutdownDates(config, nowMs) },
    { name: "embeddings", look: () => examineEmbeddings(config) },
    { name: "prices", look: () => examinePrices(config) },
    { name: "voice provider", look: () => examineVoice(config) },
    { name: "documents", look: examineReading },
  ];
}

export async function runLooks(looks: readonly SelfCheck[]): Promise<Finding[]> {
  const found = await Promise.all(
    looks.map(async ({ name, look }) => {
      try {
        return await look();
      } catch (error) {
        // A check that cannot run must not hide the others.
        return fail(name, `It could not be checked: ${describeFailure(error)}.`, "See the reason given.");
      }
    }),
  );
  return found.flat();
}

/** Tells which variables are set and have no effect; of settings that are wrong there is nothing to examine. */
function examineNames({ warnings }: Pick<Config, "warnings">): Finding[] {
  const name = "configuration";
  if (warnings.length === 0) return [ok(name, "All settings are valid.")];
  return warnings.map((sentence) => warn(name, sentence, "Remove it, unless another program needs it here."));
}
