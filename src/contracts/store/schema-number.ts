/** The number by which a database records how far it is migrated, and the sentences for one that no version takes over. */
import { AppError } from "../../domain/errors.ts";

/**
 * Of the initial migration; each further one adds one. Lower numbers belong to development builds, whose migrations are
 * gone: with numbers of their own, such a database is never mistaken for one of ours.
 */
const initialNumber = 10;

/** The number after so many migrations; 0 for none. */
export function schemaAfter(migrations: number): number {
  return migrations === 0 ? 0 : initialNumber - 1 + migrations;
}

/** How many migrations have been applied to a database with this number. */
export function migrationsIn(schema: number): number {
  return schema === 0 ? 0 : schema - initialNumber + 1;
}

export function isBeforeFirstRelease(schema: number): boolean {
  return schema > 0 && schema < initialNumber;
}

export const beforeFirstRelease =
  "This database was made before the first release of companiond and cannot be used: begin with an empty one.";

/** Throws `conflict`, with the same sentence for every such database. */
export function requireReleased(schema: number): void {
  if (isBeforeFirstRelease(schema)) throw new AppError("conflict", beforeFirstRelease);
}
