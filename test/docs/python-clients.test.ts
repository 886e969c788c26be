/**
 * Rules of openapi-python-client 0.29, read in its source: what it leaves out without saying so, and what it fails on
 * after the server has done its work. docs/decisions/2026-11-21-api-document.md says how they were found.
 */
import { expect, test } from "bun:test";
import type { OpenApiOperation, OpenApiResponse } from "../../src/api/docs/document.ts";
import type { JsonSchema } from "../../src/api/docs/schema-text.ts";
import { apiDocument } from "../support/conformance.ts";

const operations = Object.values(apiDocument.paths).flatMap((methods) => Object.values(methods));
const { schemas = {}, responses = {} } = apiDocument.components;

const resolve = (schema: JsonSchema) => schemas[String(schema["$ref"]).split("/").at(-1) ?? ""] ?? schema;
const isJson = (type: string) => /^application\/(json|.+\+json)$/.test(type);

function listResponses({ responses: all }: OpenApiOperation): [status: string, response: OpenApiResponse][] {
  return Object.entries(all).map(([status, response]) => {
    const found = "$ref" in response ? responses[response.$ref.split("/").at(-1) ?? ""] : response;
    return [status, (found ?? expect.unreachable(status)) as OpenApiResponse];
  });
}

/** The first that it knows decides how it reads the response, whatever the server then sends. */
function findRead({ content = {} }: OpenApiResponse): [type: string, schema: JsonSchema] | null {
  const types = Object.entries(content).map(([type, { schema }]) => [type.split(";", 1)[0] ?? "", schema] as const);
  const known = types.find(([type]) => isJson(type) || type.startsWith("text/") || type === "application/octet-stream");
  return known === undefined ? null : [known[0], known[1]];
}

/** It keeps a text as it is only where nothing else is asked of it: a constant that it is not raises. */
function takesAnyText(schema: JsonSchema): boolean {
  const { anyOf, type, ...rest } = resolve(schema);
  if (Array.isArray(anyOf)) return anyOf.some(takesAnyText) && anyOf.every((one) => takesAnyText(one) || isObject(one));
  return type === "string" && rest["const"] === undefined && rest["enum"] === undefined && rest["format"] === undefined;
}

const isObject = (schema: JsonSchema) => resolve(schema)["type"] === "object";

test("every call with a body takes one that it can send, but pictures", () => {
  const sent = /^(application\/(json|.+\+json|octet-stream|x-www-form-urlencoded)|multipart\/form-data|image\/.+)$/;
  const withBody = operations.filter(({ requestBody }) => requestBody !== undefined);
  const without = withBody.filter(
    ({ requestBody }) => !Object.keys(requestBody?.content ?? {}).some((type) => sent.test(type)),
  );
  expect(without.map(({ operationId }) => operationId)).toEqual([]);
});

test("every answer has a form that it reads, but pictures and the meter export", () => {
  const unread = operations.flatMap((operation) =>
    listResponses(operation)
      .filter(([, response]) => response.content !== undefined && findRead(response) === null)
      .map(([status]) => `${operation.operationId} ${status}`),
  );
  const pictures = [
    "getAvatar 200",
    "getCompanionShareImage 200",
    "getIcon 200",
    "getShareImage 200",
    "getTouchIcon 200",
  ];
  expect(unread.toSorted()).toEqual([...pictures, "exportUsageEvents 200"].toSorted());
});

test("whatever a stream or a page says is text that it keeps", () => {
  const raising = operations.flatMap((operation) =>
    listResponses(operation).flatMap(([status, response]) => {
      const [type, schema] = findRead(response) ?? [];
      if (schema === undefined || type?.startsWith("text/") !== true) return [];
      return takesAnyText(schema) ? [] : [`${operation.operationId} ${status}`];
    }),
  );
  expect(raising).toEqual([]);
  expect(takesAnyText({ anyOf: [{ type: "object" }, { type: "string", const: "[DONE]" }] })).toBe(false);
});

test("every error has the one schema of its kind, of which it makes one type", () => {
  const refs = Object.values(responses).map((response) => {
    const [, schema] = findRead(response as unknown as OpenApiResponse) ?? [];
    return schema?.["$ref"];
  });
  expect([...new Set(refs)].toSorted()).toEqual(["#/components/schemas/OpenAiError", "#/components/schemas/Problem"]);
});

test("every call with filters on metadata has one without brackets, which it does not send", () => {
  const filtered = operations.filter(({ parameters = [] }) => parameters.some(({ style }) => style === "deepObject"));
  expect(filtered.map(({ operationId }) => operationId)).toEqual(["listCompanions", "getUsage", "getInsights"]);
  for (const { parameters = [] } of filtered) {
    expect(parameters.find(({ name }) => name === "filter")?.schema).toMatchObject({
      type: "array",
      items: { type: "string" },
    });
  }
});
