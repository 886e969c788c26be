/** Refuses files of development builds before anything opens them for writing, which would already change them. */
import { constants, Database } from "bun:sqlite";
import { pathToFileURL } from "node:url";
import { isBeforeFirstRelease, requireReleased } from "../../contracts/store/schema-number.ts";

/** Marks the file as ours: "cmpd". */
export const applicationId = 0x636d7064;

/** Throws `conflict` for a database from before the first release; opening it shows all others. */
export function requireReleasedFile(path: string): void {
  const schema = glance(path);
  if (schema !== null) requireReleased(schema);
}

/** Null where nothing of ours can be read. What is only in the log beside the file is not read. */
function glance(path: string): number | null {
  let database: Database | null = null;
  try {
    database = openUnchanging(path);
    const read = (pragma: string) => Number(database?.query(`PRAGMA ${pragma}`).values()[0]?.[0]);
    const schema = read("user_version");
    return isBeforeFirstRelease(schema) && read("application_id") === applicationId ? schema : null;
  } catch {
    return null;
  } finally {
    database?.close();
  }
}

/** Without locks and the index of the log, which need a writable directory. */
export function openUnchanging(path: string): Database {
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants;
  return new Database(`${pathToFileURL(path)}?immutable=1`, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}
