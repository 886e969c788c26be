/** Query parameters of the management API: known ones only, each once, every fault in one answer. */
import type { TSchema } from "@sinclair/typebox";
import { type FieldError, invalidFields } from "../domain/errors.ts";
import type { MetadataFilter } from "../store/store.ts";

const metadataPrefix = "metadata.";

/** More than anyone needs; each filter is one more lookup in the store's index. */
export const maxMetadataFilters = 20;

export interface QueryReader {
  /** The parameter's value, or null where it was not sent. */
  text(name: string): string | null;
  /**
   * The parameter as `parse` makes it, or null where it was not sent. Where `parse` returns undefined, `problem` is
   * noted for `finish` and the result is null.
   */
  value<Value>(name: string, parse: (text: string) => Value | undefined, problem: string): Value | null;
  /** Every `metadata.<path>=<value>`, in the order sent; the same path may be sent more than once. */
  readonly metadata: readonly MetadataFilter[];
  /** Throws `invalid_request` with every fault found so far, unknown parameters included. */
  finish(): void;
}

/**
 * One or several parameters that make one value, or have rules in common: how they are described, and how they are read.
 */
export interface QueryPart<Value> {
  /** By name, in the order of the API document. */
  readonly parameters: Readonly<Record<string, () => TSchema>>;
  /** Takes `metadata.<path>=<value>` too. */
  readonly takesMetadata?: true;
  /** Notes faults in the reader. `nowMs` is for defaults that depend on the day. */
  read(query: QueryReader, nowMs: number): Value;
}

/** Of a route, by the names that its handler has for the values. */
export type QueryParts = Readonly<Record<string, QueryPart<unknown>>>;
export type QueryValues<Parts extends QueryParts> = { readonly [Name in keyof Parts]: ReturnType<Parts[Name]["read"]> };

/** Every `metadata.<path>=<value>`. */
export const metadataFilters: QueryPart<readonly MetadataFilter[]> = {
  parameters: {},
  takesMetadata: true,
  read: (query) => query.metadata,
};

/** A parameter that is taken as it comes; null where it was not sent. */
export function textQuery(name: string, schema: () => TSchema): QueryPart<string | null> {
  return { parameters: { [name]: schema }, read: (query) => query.text(name) };
}

/** A parameter as `parse` makes it, null where it was not sent; see `QueryReader.value`. */
export function valueQuery<Value>(
  name: string,
  schema: () => TSchema,
  parse: (text: string) => Value | undefined,
  problem: string,
): QueryPart<Value | null> {
  return { parameters: { [name]: schema }, read: (query) => query.value(name, parse, problem) };
}

/** The parameters of a part as the API document shows them. */
export function schemasOf({ parameters }: QueryPart<unknown>): Record<string, TSchema> {
  return Object.fromEntries(Object.entries(parameters).map(([name, makeSchema]) => [name, makeSchema()]));
}

/** Reads the parts of a route's query; throws `invalid_request` with every fault, unknown parameters included. */
export function createQueryOpener(parts: QueryParts): (request: Request, nowMs: number) => Record<string, unknown> {
  const entries = Object.entries(parts);
  const known = entries.flatMap(([, part]) => Object.keys(part.parameters));
  const takesMetadata = entries.some(([, part]) => part.takesMetadata);
  return (request, nowMs) => {
    const query = openQuery(request, known, takesMetadata);
    const values = Object.fromEntries(entries.map(([name, part]) => [name, part.read(query, nowMs)]));
    query.finish();
    return values;
  };
}

/** Opens the query of a request whose route takes the parameters `known`, and metadata filters where said so. */
export function openQuery(request: Request, known: readonly string[], takesMetadata = false): QueryReader {
  const errors: FieldError[] = [];
  const values = new Map<string, string>();
  const metadata: MetadataFilter[] = [];
  const refuse = (param: string, detail: string) => {
    if (!errors.some((error) => error.param === param)) errors.push({ param, detail });
  };

  for (const [name, value] of new URL(request.url).searchParams) {
    const isFilter = takesMetadata && name.startsWith(metadataPrefix);
    if (!isFilter && !known.includes(name)) refuse(name, "This parameter is not known here.");
    else if (value.includes("\0") || name.includes("\0")) refuse(name, "Must not hold NUL characters.");
    else if (isFilter) metadata.push({ path: name.slice(metadataPrefix.length), value });
    else if (values.has(name)) refuse(name, "Must be sent once only.");
    else values.set(name, value);
  }
  if (metadata.length > maxMetadataFilters) {
    refuse("metadata", `At most ${maxMetadataFilters} metadata filters can be combined.`);
  }

  return {
    metadata,
    text: (name) => values.get(name) ?? null,
    value(name, parse, problem) {
      const text = values.get(name);
      if (text === undefined) return null;
      const value = parse(text);
      if (value === undefined) refuse(name, problem);
      return value ?? null;
    },
    finish() {
      if (errors.length > 0) throw invalidFields(errors);
    },
  };
}

/** For routes that take no parameters at all. */
export function refuseQuery(request: Request): void {
  openQuery(request, []).finish();
}
