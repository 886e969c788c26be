/** Points at the settings of a service that is installed on the machine, where a command was not given them. */
import { existsSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { describeNoDatabase } from "../contracts/store/data-location.ts";
import { AppError } from "../domain/errors.ts";

/** Where the package puts them. They are never read unasked: a command's settings are those that it is given. */
export const serviceSettings = "/etc/companiond/companiond.env";

/** A sentence without its full stop; null where there are none, or where the data's location is set. */
export function findUnreadSettings({ given }: Pick<Config, "given">, file: string): string | null {
  const isNamed = given.some(
    ({ name, source }) => source === "env file" || name === "--data-dir" || name === "COMPANIOND_DATA_DIR",
  );
  if (isNamed || !existsSync(file)) return null;
  return `The service of this machine has its settings in ${file}: run the command as root with --env-file ${file}`;
}

/** What to throw instead of the failure of a command that found no database. */
export function pointToSettings(error: unknown, config: Config, file: string): unknown {
  if (!(error instanceof AppError) || error.message !== describeNoDatabase(config.dataDir)) return error;
  const sentence = findUnreadSettings(config, file);
  return sentence === null ? error : new AppError(error.code, `${error.message} ${sentence}.`, { cause: error.cause });
}
