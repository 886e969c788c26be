/** TypeBox types that the routes share, and the check that reports all invalid fields in one response. */
import {
  Kind,
  type SchemaOptions,
  type Static,
  type TProperties,
  type TSchema,
  TypeRegistry,
  Type as t,
} from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from "@sinclair/typebox/compiler";
import { AppError, type FieldError, invalidFields } from "../../domain/errors.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";

interface TextOptions {
  minLength?: number;
  maxLength?: number;
  /** All values there are. */
  enum?: readonly string[];
  /** A JSON Schema pattern (ECMA-262). */
  pattern?: string;
  /** The sentence for a value that does not match, shown to the caller. */
  problem?: string;
  description?: string;
  examples?: string[];
  /** Further rule; the schema document cannot show it, so `description` must. */
  accepts?: (value: string) => boolean;
  /** The same for a rule with a message of its own: a sentence for the caller, or null. */
  findProblem?: (value: string) => string | null;
}

/** Rules that the schema document does not show. A symbol, since TypeBox copies schemas and JSON knows no symbols. */
const ruleKey = Symbol("rules");

interface TextRules extends Pick<TextOptions, "accepts" | "problem" | "findProblem"> {
  compiled?: RegExp;
}

type TextSchema = TSchema & TextOptions & { [ruleKey]: TextRules };

// TypeBox counts UTF-16 units and lets NUL and lone surrogates pass; JSON Schema and our contract count code points.
TypeRegistry.Set<TextSchema>("Text", (schema, value) => {
  if (typeof value !== "string" || !value.isWellFormed() || value.includes("\0")) return false;
  if (schema.enum !== undefined) return schema.enum.includes(value);
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  if (value.length < minLength || isLonger(value, maxLength)) return false;
  const { compiled, accepts, findProblem } = schema[ruleKey];
  if (compiled && !compiled.test(value)) return false;
  if (findProblem && findProblem(value) !== null) return false;
  return accepts ? accepts(value) : true;
});

/** Counts only where the number of units leaves it open: a code point has one or two. */
function isLonger(text: string, most: number): boolean {
  return text.length > most * 2 || (text.length > most && countCodePoints(text) > most);
}

function countCodePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** A well-formed string without NUL; lengths count Unicode code points, as in JSON Schema. */
export function Text(options: TextOptions = {}): TSchema & { static: string } {
  const { accepts, problem, findProblem, ...shown } = options;
  const rules: TextRules = {
    ...(accepts ? { accepts } : {}),
    ...(problem ? { problem } : {}),
    ...(findProblem ? { findProblem } : {}),
    ...(options.pattern ? { compiled: new RegExp(options.pattern, "u") } : {}),
  };
  return t.Unsafe<string>({ ...shown, [Kind]: "Text", [ruleKey]: rules, type: "string" });
}

/** `null` clears a field on PATCH and means "not set" in responses. */
export function Nullable<Schema extends TSchema>(schema: Schema) {
  return t.Union([schema, t.Null()]);
}

/** For a field that may be left out, or null. */
export function Nullish<Schema extends TSchema>(schema: Schema) {
  return t.Optional(Nullable(schema));
}

/** A JSON object of the caller's own. */
export function AnyObject(options: SchemaOptions = {}) {
  return t.Unsafe<JsonObject>(t.Object({}, { additionalProperties: true, ...options }));
}

/** Any value of a companion's fields, tools or sources. Written out: generated clients would have no type for a schema without one. */
export function anyValue(description: string) {
  const list = t.Array(t.Union([t.String(), AnyObject()]));
  const kinds = [t.String(), t.Number(), t.Boolean(), t.Null(), AnyObject(), list];
  return t.Unsafe<JsonValue>(t.Union(kinds, { description }));
}

/** One of these texts. */
export function OneOf<Value extends string>(values: readonly Value[], options: SchemaOptions = {}) {
  return t.Union(
    values.map((value) => t.Literal(value)),
    options,
  );
}

export const uuidPattern = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$";

export interface Checker<Schema extends TSchema> {
  readonly schema: Schema;
  /** Returns the value typed, or throws `invalid_request` with every field at fault. */
  check(value: unknown): Static<Schema>;
  /** Every field at fault, up to `maxListedErrors`; none when valid. */
  listErrors(value: unknown): FieldError[];
}

/** The response to a body with only unknown fields must not be many times its size. */
export const maxListedErrors = 100;
const maxParamLength = 200;
/** Counting the characters of a longer text would hold the event loop. */
const maxCounted = 1024 * 1024;

/** Made and compiled on first use: dozens of schemas would otherwise be, before the server listens. */
export function compileChecker<Schema extends TSchema>(makeSchema: () => Schema): Checker<Schema> {
  let made: Schema | null = null;
  let compiled: TypeCheck<Schema> | null = null;
  const getSchema = () => {
    made ??= makeSchema();
    return made;
  };
  const compile = () => {
    compiled ??= TypeCompiler.Compile(getSchema());
    return compiled;
  };
  const listErrors = (value: unknown) => {
    const byParam = new Map<string, FieldError>();
    for (const error of openUnions(compile().Errors(value))) {
      const param = toParam(error.path);
      if (!byParam.has(param)) byParam.set(param, { param, detail: describe(error) });
      if (byParam.size === maxListedErrors) break;
    }
    return [...byParam.values()];
  };
  return {
    get schema() {
      return getSchema();
    },
    listErrors,
    check(value) {
      if (compile().Check(value)) return value;
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        throw new AppError("invalid_request", "The request body must be a JSON object.");
      }
      throw invalidFields(listErrors(value));
    },
  };
}

/** Checks, with faults that the schema does not show instead of what it finds in these fields. */
export function checkWith<Schema extends TSchema>(
  checker: Checker<Schema>,
  sent: unknown,
  faults: readonly FieldError[],
): Static<Schema> {
  if (faults.length === 0) return checker.check(sent);
  const others = checker.listErrors(sent).filter(({ param }) => faults.every((fault) => fault.param !== param));
  throw invalidFields([...others, ...faults]);
}

/** The checker of a body that has no other fields than these. */
export function compileBody<Fields extends TProperties>(name: string, makeFields: () => Fields) {
  return compileChecker(() => t.Object(makeFields(), { $id: name, additionalProperties: false }));
}

/** Within a nullable list or object, the entries at fault instead of the whole. */
function* openUnions(errors: Iterable<ValueError>): Iterable<ValueError> {
  for (const error of errors) {
    const inner = error.type === ValueErrorType.Union && error.value !== null ? error.errors[0] : undefined;
    let isOpened = false;
    for (const entry of inner ?? []) {
      // The whole is at fault itself: of another type, or too long.
      if (entry.path.length <= error.path.length) break;
      isOpened = true;
      yield* openUnions([entry]);
    }
    if (!isOpened) yield error;
  }
}

/** A JSON pointer as the dotted path that callers write. */
function toParam(pointer: string): string {
  return pointer
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".")
    .slice(0, maxParamLength)
    .toWellFormed();
}

function describe(error: ValueError): string {
  const isNullable = error.schema.anyOf?.some((option: TSchema) => option.type === "null") ?? false;
  const schema = (isNullable ? error.schema.anyOf[0] : error.schema) as TSchema & Partial<TextSchema>;
  if (error.value === undefined) return "This field is required.";
  if (error.type === ValueErrorType.ArrayUniqueItems) return "Must not have an entry twice.";
  if (error.message === "Unexpected property") return "This field is not known here.";
  const nullable = isNullable ? " or null" : "";
  if (schema[Kind] === "Text") return describeText({ ...schema, ...schema[ruleKey] }, error.value, nullable);
  const allowed = schema.anyOf?.map((option: TSchema) => option.const).filter((value: unknown) => value !== undefined);
  if (allowed?.length) return `Must be one of: ${allowed.join(", ")}.`;
  switch (schema.type) {
    case "integer":
    case "number": {
      const least = schema.minimum === undefined ? "" : ` of at least ${schema.minimum}`;
      const most = schema.maximum === undefined ? "" : `${least ? " and" : " of"} at most ${schema.maximum}`;
      return `Must be ${schema.type === "integer" ? "a whole number" : "a number"}${least}${most}${nullable}.`;
    }
    case "boolean":
      return `Must be true or false${nullable}.`;
    case "array":
      return `Must be a list${describeLength(schema)}${nullable}.`;
    case "object":
      return `Must be an object${nullable}.`;
    default:
      return "This value is not allowed here.";
  }
}

function describeLength({ minItems = 0, maxItems }: TSchema): string {
  if (maxItems === undefined) return minItems === 0 ? "" : ` of at least ${minItems} entries`;
  if (minItems === maxItems) return ` of ${maxItems} entries`;
  return minItems === 0 ? ` of at most ${maxItems} entries` : ` of ${minItems} to ${maxItems} entries`;
}

function describeText(schema: TextOptions, value: unknown, nullable: string): string {
  if (schema.problem !== undefined) return schema.problem;
  if (schema.enum !== undefined) return `Must be one of: ${schema.enum.join(", ")}.`;
  if (typeof value !== "string") return `Must be a string${nullable}.`;
  if (!value.isWellFormed() || value.includes("\0")) return "Must be well-formed text without NUL characters.";
  if (schema.maxLength !== undefined && value.length > maxCounted) {
    return `Must be at most ${schema.maxLength} characters long.`;
  }
  const length = countCodePoints(value);
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    return `Must be at most ${schema.maxLength} characters long; it has ${length}.`;
  }
  if (schema.minLength !== undefined && length < schema.minLength) {
    return `Must be at least ${schema.minLength} character${schema.minLength === 1 ? "" : "s"} long.`;
  }
  return schema.findProblem?.(value) ?? "Does not have the required form.";
}
