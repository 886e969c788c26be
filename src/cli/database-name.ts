/** Says where the data is, for the output of commands: never with a user or password. */
import type { Config } from "../config.ts";

/** As the end of a phrase: `in /var/lib/companiond`, or `companiond at db.example:5432`. */
export function nameDatabase({ dataDir, database }: Pick<Config, "dataDir" | "database">): string {
  if (database === null) return `in ${dataDir}`;
  const { host, pathname } = new URL(database.url);
  return `${decodeURIComponent(pathname.slice(1))} at ${decodeURIComponent(host)}`;
}
