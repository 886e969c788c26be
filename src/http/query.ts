/** Query parameters of the management API: only known ones, each once, with all faults in one response. */
import { type TSchema, Type as t } from "@sinclair/typebox";
import type { MetadataFilter } from "../contracts/store/store.ts";
import { type FieldError, invalidFields } from "../domain/errors.ts";
import { toUuid } from "../lib/ids.ts";
import { dayMs, parseDay, parseInstant } from "../lib/instant.ts";

const metadataPrefix = "metadata.";

/** More than anyone needs; each filter costs another index lookup. */
const maxMetadataFilters = 20;

export interface QueryReader {
  /** The parameter's value, or null if it was not sent. */
  text(name: string): string | null;
  /**
   * The parsed parameter, or null if it was not sent. If `parse` returns undefined, `problem` is recorded for `finish`
   * and the result is null.
   */
  value<Value>(name: string, parse: (text: string) => Value | undefined, problem: string): Value | null;
  /** A whole number from 1 to `most`, or null if it was not sent. */
  count(name: string, most: number): number | null;
  /** Every filter on metadata, in the order sent; a path may occur more than once. */
  readonly metadata: readonly MetadataFilter[];
  /** Throws `invalid_request` with every fault found so far, including unknown parameters. */
  finish(): void;
}

/**
 * One or several parameters that form one value, or share rules: how they are described, and how they are read.
 */
export interface QueryPart<Value> {
  /** By name, in the order of the API document. */
  readonly parameters: Readonly<Record<string, () => TSchema>>;
  /** Also accepts filters on metadata. */
  readonly takesMetadata?: true;
  /** Records faults in the reader. `nowMs` is for defaults that depend on the day. */
  read(query: QueryReader, nowMs: number): Value;
}

/** The query of a route, by the handler's names for the values. */
export type QueryParts = Readonly<Record<string, QueryPart<unknown>>>;
export type QueryValues<Parts extends QueryParts> = { readonly [Name in keyof Parts]: ReturnType<Parts[Name]["read"]> };

/** Every `metadata.<path>=<value>`, `filter=<path>:<value>`, which means the same, and `metadata[<key>]=<value>`. */
export const metadataFilters: QueryPart<readonly MetadataFilter[]> = {
  parameters: {
    filter: () =>
      t.Array(t.String({ pattern: ":" }), {
        examples: [["user.id:42", "plan:pro"]],
        description:
          "Only what has these values in its metadata: `filter=user.id:42` means the same as `metadata.user.id=42`, for " +
          "clients that send neither brackets nor parameters of their own naming. The first colon ends the field. May be " +
          "sent more than once: all must match. A dot leads into objects, or belongs to a name. Numbers, booleans and " +
          "null match as their JSON text; an array matches if an element does.",
      }),
  },
  takesMetadata: true,
  read: (query) => query.metadata,
};

/** An unparsed parameter; null if it was not sent. */
export function textQuery(name: string, schema: () => TSchema): QueryPart<string | null> {
  return { parameters: { [name]: schema }, read: (query) => query.text(name) };
}

/** A parsed parameter, null if it was not sent; see `QueryReader.value`. */
export function valueQuery<Value>(
  name: string,
  schema: () => TSchema,
  parse: (text: string) => Value | undefined,
  problem: string,
): QueryPart<Value | null> {
  return { parameters: { [name]: schema }, read: (query) => query.value(name, parse, problem) };
}

/** An id, null if it was not sent. */
export function uuidQuery(name: string, schema: () => TSchema): QueryPart<string | null> {
  return valueQuery(name, schema, toUuid, "Must be a UUID.");
}

/** The schemas of a part's parameters, for the API document. */
export function schemasOf({ parameters }: QueryPart<unknown>): Record<string, TSchema> {
  return Object.fromEntries(Object.entries(parameters).map(([name, makeSchema]) => [name, makeSchema()]));
}

/** Reads the parts of a route's query; throws `invalid_request` with every fault, including unknown parameters. */
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

/** Opens the query of a request whose route accepts the parameters `known`, and metadata filters if `takesMetadata`. */
function openQuery(request: Request, known: readonly string[], takesMetadata = false): QueryReader {
  const errors: FieldError[] = [];
  const values = new Map<string, string>();
  const metadata: MetadataFilter[] = [];
  const refuse = (param: string, detail: string) => {
    if (!errors.some((error) => error.param === param)) errors.push({ param, detail });
  };

  for (const [name, value] of new URL(request.url).searchParams) {
    const filter = takesMetadata ? readFilter(name, value) : null;
    if (typeof filter === "string") refuse(name, filter);
    else if (filter === null && !known.includes(name)) refuse(name, "This parameter is unknown here.");
    else if (value.includes("\0") || name.includes("\0")) refuse(name, "Must not contain NUL characters.");
    else if (filter !== null) metadata.push(filter);
    else if (values.has(name)) refuse(name, "Must be sent only once.");
    else values.set(name, value);
  }
  if (metadata.length > maxMetadataFilters) {
    refuse("metadata", `At most ${maxMetadataFilters} metadata filters can be combined.`);
  }

  function read<Value>(name: string, parse: (text: string) => Value | undefined, problem: string): Value | null {
    const text = values.get(name);
    if (text === undefined) return null;
    const value = parse(text);
    if (value === undefined) refuse(name, problem);
    return value ?? null;
  }

  return {
    metadata,
    text: (name) => values.get(name) ?? null,
    value: read,
    count(name, most) {
      const parse = (text: string) => {
        const count = /^\d+$/.test(text) && text.length <= String(most).length ? Number(text) : 0;
        return count >= 1 && count <= most ? count : undefined;
      };
      return read(name, parse, `Must be a whole number of at least 1 and at most ${most}.`);
    },
    finish() {
      if (errors.length > 0) throw invalidFields(errors);
    },
  };
}

/** A filter on metadata; null for any other parameter, a sentence for what means to be one. */
function readFilter(name: string, value: string): MetadataFilter | string | null {
  if (name.startsWith(metadataPrefix)) return { path: name.slice(metadataPrefix.length), value };
  if (name === "filter") {
    const colon = value.indexOf(":");
    if (colon < 0) return "Write filter=field:value, with dots into nested fields.";
    return { path: value.slice(0, colon), value: value.slice(colon + 1) };
  }
  if (!name.startsWith("metadata[")) return null;
  const key = /^metadata\[([^[\]]+)\]$/.exec(name)?.[1];
  if (key === undefined) return "Write metadata[field]=value: one field in brackets, and no operator.";
  return { path: key, value, isKey: true };
}

/** For routes without parameters. */
export function refuseQuery(request: Request): void {
  openQuery(request, []).finish();
}

const problem = "Must be a day (2026-01-31) or an RFC 3339 instant (2026-01-31T09:30:00Z).";

interface TimeRange {
  /** Inclusive; null if open. */
  fromMs: number | null;
  /** Exclusive; null if open. */
  toMs: number | null;
}

/** `from` and `to` of lists: timestamps, or whole UTC days, both inclusive. */
export const rangeQuery: QueryPart<TimeRange> = {
  parameters: {
    from: () =>
      t.String({
        description: "Earliest creation, included: an RFC 3339 instant, or a UTC day.",
        examples: ["2026-01-01"],
      }),
    to: () =>
      t.String({
        description: "Latest creation, included: an RFC 3339 instant, or a UTC day to its end.",
        examples: ["2026-01-31"],
      }),
  },
  read(query) {
    const fromMs = query.value("from", (text) => parseDay(text) ?? parseInstant(text) ?? undefined, problem);
    const toMs = query.value("to", parseEnd, problem);
    if (fromMs !== null && toMs !== null && toMs <= fromMs) {
      query.value("to", () => undefined, "Must not be before `from`.");
    }
    return { fromMs, toMs };
  },
};

/** The first millisecond after what `to` includes. */
function parseEnd(text: string): number | undefined {
  const day = parseDay(text);
  if (day !== null) return day + dayMs;
  const instant = parseInstant(text);
  return instant === null ? undefined : instant + 1;
}
