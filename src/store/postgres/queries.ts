/** Queries on whatever runs them: a pool, or one transaction. */
import { drizzle } from "drizzle-orm/bun-sql";

/** Arrays become arrays of PostgreSQL; name the type where one is used: `= ANY($1::text[])`. */
export type Parameter = Scalar | readonly Scalar[];
type Scalar = string | number | boolean | null | Uint8Array;

/** What the driver resolves with: the rows, and how many were read or changed. */
export type Rows<Row> = Row[] & { readonly count: number };

/** A query of the driver, which is sent when somebody waits for it. */
export interface DriverQuery extends PromiseLike<Rows<unknown>> {
  /** Rows as arrays of values. */
  values(): Promise<unknown[][]>;
}

export type RunQuery = (text: string, parameters: readonly Parameter[]) => DriverQuery;

/**
 * A `bigint` arrives as text: select it as `float8`, as `mapColumns` does. All methods reject with `unavailable` where
 * PostgreSQL does not answer within the deadline.
 */
export class Queries {
  readonly #run: RunQuery;
  #orm: ReturnType<typeof drizzle> | null = null;

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

  /** The query builder, for queries outside hot paths. Never use its `transaction`; use the engine's `write`. */
  get orm() {
    // The builder asks for no more of its client than this.
    const client = { unsafe: (text: string, parameters: Parameter[]) => this.#run(text, parameters) };
    this.#orm ??= drizzle({ client: client as never });
    return this.#orm;
  }
}
