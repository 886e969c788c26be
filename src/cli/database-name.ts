/** Names the data's location for the output of commands: never with a user or password. */
import type { Config } from "../config/config.ts";

/** As the end of a phrase: `in /var/lib/companiond`, or `companiond at db.example:5432`. */
export function nameDatabase({ dataDir, database }: Pick<Config, "dataDir" | "database">): string {
  return database === null ? `in ${dataDir}` : nameServed(database);
}

/** The same where it is known to be on a server. */
export function nameServed({ url }: NonNullable<Config["database"]>): string {
  const { host, pathname } = new URL(url);
  return `${decodeURIComponent(pathname.slice(1))} at ${decodeURIComponent(host)}`;
}
