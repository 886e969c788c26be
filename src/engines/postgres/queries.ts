/** Queries on what runs them: a pool, or one transaction. */

/** Arrays become arrays of PostgreSQL; name the type where one is used: `= ANY($1::text[])`. */
export type Parameter = Scalar | readonly Scalar[];
type Scalar = string | number | boolean | null | Uint8Array;

/** What the driver resolves with: the rows, how many were read or changed, and their columns with the number of their type. */
export type Rows<Row> = Row[] & {
  readonly count: number;
  readonly columns: readonly { name: string; type: unknown }[];
};

/** A query that is under way, or that is sent when it is awaited, as the driver's are. */
export type DriverQuery = PromiseLike<Rows<unknown>>;

export type RunQuery = (text: string, parameters: readonly Parameter[]) => DriverQuery;

/**
 * A `bigint` arrives as text: select it as `float8`, as `mapColumns` does. All methods reject with `unavailable` where
 * PostgreSQL does not answer within the deadline.
 */
export class Queries {
  readonly #run: RunQuery;

  constructor(run: RunQuery) {
    this.#run = run;
  }

  async all<Row>(text: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    return (await this.#run(text, parameters)) as Row[];
  }

  async get<Row>(text: string, parameters: readonly Parameter[] = []): Promise<Row | null> {
    return ((await this.#run(text, parameters))[0] as Row | undefined) ?? null;
  }

  /** Resolves with the number of rows that were changed. */
  async run(text: string, parameters: readonly Parameter[] = []): Promise<number> {
    return (await this.#run(text, parameters)).count;
  }
}
