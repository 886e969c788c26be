/** Column types that all tables share. */
import { bigint, customType } from "drizzle-orm/pg-core";

/**
 * Text that sorts by its bytes, whatever the locale of the database: ids, days and names sort as they do in JavaScript.
 * It cannot hold NUL.
 */
export const textColumn = customType<{ data: string; driverData: string }>({ dataType: () => 'text COLLATE "C"' });

/** A whole number up to 2^53: a time in milliseconds, a count. */
export const wholeColumn = (name: string) => bigint(name, { mode: "number" });

/** Counts up with each row, in the order in which rows are written. */
export const numberColumn = (name: string) => wholeColumn(name).generatedByDefaultAsIdentity();

/** JSON as it was written: the order of members and the form of numbers stay. */
export const jsonColumn = <Value>() =>
  customType<{ data: Value; driverData: string }>({
    dataType: () => 'text COLLATE "C"',
    toDriver: (value) => JSON.stringify(value),
    fromDriver: (text) => JSON.parse(text) as Value,
  });
