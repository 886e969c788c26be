/** Query parameters of the management API: known ones only, each once, every fault in one answer. */
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
