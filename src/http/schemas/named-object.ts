/** Objects of responses: schemas that the API document shows under their own name, and what clients send back of them. */
import { type ObjectOptions, type TObject, type TProperties, Type as t } from "@sinclair/typebox";
import type { FieldError } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";
import { later } from "../../lib/later.ts";
import { maxListedErrors } from "./schema.ts";

/** Creates named schemas on first use, so that a start without a request for the API document creates none. */
export function namedObject<Fields extends TProperties>(
  name: string,
  makeFields: () => Fields,
  options: ObjectOptions = {},
): TObject<Fields> {
  return later(() => t.Object(makeFields(), { $id: name, ...options }));
}

/** The same without other fields. */
export function closedObject<Fields extends TProperties>(name: string, makeFields: () => Fields): TObject<Fields> {
  return namedObject(name, makeFields, { additionalProperties: false });
}

/** An instant of a response. */
export function instant(description: string) {
  return t.String({ format: "date-time", description, examples: ["2026-01-31T12:00:00.000Z"] });
}

/**
 * A body without the read-only fields, which clients may send back as they read them: those that the answer has and the
 * body's model has not. Anything but an object is returned as it is.
 */
export function omitReadOnly(body: unknown, { schema }: { readonly schema: TObject }, answer: TObject): unknown {
  if (!isJsonObject(body)) return body;
  const isReadOnly = (name: string) =>
    Object.hasOwn(answer.properties, name) && !Object.hasOwn(schema.properties, name);
  return Object.fromEntries(Object.entries(body).filter(([name]) => !isReadOnly(name)));
}

/** What of a body has no fault: further checks need values of the right types. A truncated list does not name all others. */
export function pickSound<Body extends object>(body: unknown, errors: readonly FieldError[]): Partial<Body> {
  if (!isJsonObject(body) || errors.length >= maxListedErrors) return {};
  const faulty = new Set(errors.map(({ param }) => param.split(".", 1)[0]));
  return Object.fromEntries(Object.entries(body).filter(([name]) => !faulty.has(name))) as Partial<Body>;
}

/** Of a field that only the server sets. */
export function explainSecret(error: FieldError): FieldError {
  if (error.param !== "secret") return error;
  return { ...error, detail: "The server makes the secret, and shows it in the response." };
}
