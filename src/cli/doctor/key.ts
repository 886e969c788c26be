/** Checks whether the key is there that opens what is sealed in a database of the data directory. */
import { existsSync } from "node:fs";
import { findKeyProblem, nameKey } from "../../app/sealed-secrets.ts";
import { storageOf } from "../../app/services.ts";
import type { Config } from "../../config/config.ts";
import type { StoredFacts } from "../../contracts/store/inspection.ts";
import { AppError } from "../../domain/errors.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Of PostgreSQL, the look at the database tells: there it is also a matter between servers. */
export async function examineKey(config: Config): Promise<Finding[]> {
  const facts = findSealed(config);
  return facts === null ? [] : [await judge(config, facts)];
}

async function judge(config: Config, { proof, hasSealed }: StoredFacts): Promise<Finding> {
  const name = "secret key";
  const source = nameKey(config);
  if (proof === null && config.secretKey === null && !existsSync(source)) {
    return ok(name, "Nothing in the database is sealed yet.");
  }
  const problem = await findKeyProblem(config, proof);
  if (problem === null) {
    return ok(
      name,
      proof === null ? `${source} will seal secrets; none is sealed yet.` : `${source} opens what is sealed.`,
    );
  }
  const detail = `The secrets in the database cannot be opened: ${problem}.`;
  if (hasSealed) return fail(name, detail, "Put the earlier key back: serve refuses to start without it.");
  return warn(name, detail, "Nothing is lost, since nothing is sealed; but serve needs a key that it can read.");
}

/** Null where there is nothing to judge: why the database cannot be read, the look at it tells. */
function findSealed(config: Config): StoredFacts | null {
  try {
    return storageOf(config).inspectStored?.() ?? null;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}
