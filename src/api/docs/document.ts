/** The OpenAPI 3.1 document, generated from the routes' descriptions and the models that validate requests. */
import type { TSchema } from "@sinclair/typebox";
import type { Scope } from "../../domain/account.ts";
import { type ApiResponse, apiTags } from "../../http/api-description.ts";
import { type BodyForm, type JsonBody, mergePatchType } from "../../http/json-body.ts";
import type { Route } from "../../http/route.ts";
import { OpenAiErrorObject, ProblemObject } from "../../http/schemas/problem.ts";
import { type DescribedRoute, describeRoute } from "./described-route.ts";
import { asksVisitor, describeErrors, type Reference } from "./error-responses.ts";
import { guideText } from "./guide.ts";
import { challengeHeader, listHeaders, requestHeaders, sharedHeaders, visitorTokenHeader } from "./headers.ts";
import { exampleOf, type JsonSchema, SchemaCollector } from "./schema-text.ts";
import { accessSentence, requiredScope, securityOf, securitySchemes } from "./security.ts";

export interface OpenApiDocument {
  openapi: string;
  info: {
    title: string;
    version: string;
    description: string;
    contact: { name: string; url?: string };
    license: { name: string; identifier: string };
  };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: Record<string, Record<string, JsonSchema>>;
}

export interface OpenApiOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  /** Of an API key. OpenAPI's own field for it is one that linters know for OAuth only. */
  "x-required-scope"?: Scope;
  parameters?: OpenApiParameter[];
  requestBody?: { required: boolean; content: Record<string, OpenApiMedia> };
  responses: Record<string, OpenApiResponse | Reference>;
  /** By name, then by the expression for the URL. */
  callbacks?: Callbacks;
}

type Callbacks = Record<string, Record<string, Record<"post", Omit<OpenApiOperation, "operationId" | "tags">>>>;

interface OpenApiParameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description: string;
  schema: JsonSchema;
  style?: "deepObject";
  explode?: boolean;
}

interface OpenApiMedia {
  schema: JsonSchema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

export interface OpenApiResponse {
  description: string;
  headers?: Record<string, JsonSchema>;
  content?: Record<string, OpenApiMedia>;
}

export interface DocumentFacts {
  /** Without a trailing slash; empty if unknown, and links are relative then. */
  baseUrl: string;
  version: string;
}

export function buildDocument(routes: readonly Route[], facts: DocumentFacts): OpenApiDocument {
  const schemas = new SchemaCollector();
  const problems = new Map<string, JsonSchema>();
  const builder = { schemas, problems, facts };
  schemas.add(ProblemObject);
  schemas.add(OpenAiErrorObject);

  const paths: OpenApiDocument["paths"] = {};
  for (const operation of routes.map(describeRoute)) {
    const described = { [operation.method.toLowerCase()]: describeOperation(builder, operation) };
    paths[operation.path] = { ...paths[operation.path], ...described };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "companiond",
      version: facts.version,
      description: guideText,
      // The operator of this server; the software knows no name.
      contact: { name: "The operator of this server", ...(facts.baseUrl === "" ? {} : { url: facts.baseUrl }) },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: serverUrl(facts.baseUrl) }],
    tags: Object.entries(apiTags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes,
      headers: sharedHeaders,
      schemas: Object.fromEntries(schemas.named),
      responses: Object.fromEntries(problems),
    },
  };
}

/** Relative also at `localhost`: linters take that name for one that was forgotten. */
function serverUrl(baseUrl: string): string {
  return baseUrl === "" || new URL(baseUrl).hostname === "localhost" ? "/" : baseUrl;
}

interface Builder {
  schemas: SchemaCollector;
  /** By component name. */
  problems: Map<string, JsonSchema>;
  facts: DocumentFacts;
}

function describeCallback(
  builder: Builder,
  { name, summary, description, body }: NonNullable<DescribedRoute["sends"]>,
): Callbacks {
  const requestBody = { required: true, content: { "application/json": describeMedia(builder, body) } };
  const responses = {
    "2XX": { description: "Confirmed." },
    "4XX": { description: "As anything else: not confirmed." },
  };
  const post = { summary, description, security: [], requestBody, responses };
  return { [name]: { "{$request.body#/url}": { post } } };
}

function describeOperation(builder: Builder, operation: DescribedRoute): OpenApiOperation {
  const parameters = listParameters(builder, operation);
  const { access, body, bodyExample, responses, description, sends } = operation;
  const scope = requiredScope(access);
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: [...(description === undefined ? [] : [description]), accessSentence(access)].join("\n\n"),
    security: securityOf(access),
    ...(scope === null ? {} : { "x-required-scope": scope }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? {
          requestBody: {
            required: !body.isOptional,
            content: Object.fromEntries(
              listForms(operation.method, body, bodyExample).map(([type, { schema, example }]) => [
                type,
                describeMedia(builder, schema, example),
              ]),
            ),
          },
        }
      : {}),
    ...(sends ? { callbacks: describeCallback(builder, sends) } : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [status, describeResponse(builder, operation, response)]),
      ),
      ...describeErrors(operation, builder.problems, builder.facts.baseUrl),
    },
  };
}

function listForms(method: string, body: JsonBody<unknown>, example?: object): [type: string, form: BodyForm][] {
  if (body.forms !== undefined) return Object.entries(body.forms);
  const form = { schema: body.checker.schema, ...(example === undefined ? {} : { example }) };
  return jsonTypes(method).map((type) => [type, form]);
}

/** Every PATCH may be a JSON Merge Patch. */
function jsonTypes(method: string): readonly string[] {
  return method === "PATCH" ? ["application/json", mergePatchType] : ["application/json"];
}

function listParameters(builder: Builder, operation: DescribedRoute): OpenApiParameter[] {
  const parameters: OpenApiParameter[] = [];
  const add = (location: OpenApiParameter["in"], name: string, schema: JsonSchema) => {
    const { description = "", ...rest } = schema;
    const required = location === "path" || (location === "header" && operation.access === "visitor");
    parameters.push({ name, in: location, required, description: String(description), schema: rest });
  };
  for (const [name, schema] of Object.entries(operation.params)) add("path", name, builder.schemas.add(schema));
  for (const [name, schema] of Object.entries(operation.query)) add("query", name, builder.schemas.add(schema));
  if (operation.takesMetadata) {
    add("query", "metadata", {
      type: "object",
      additionalProperties: { type: "string" },
      examples: [{ plan: "pro" }],
      description:
        "As `filter`, with a key in brackets: `metadata[plan]=pro`. Dots belong to the key: `metadata[user.id]=42` finds no " +
        "nested field. `metadata.user.id=42` finds both.",
    });
    Object.assign(parameters.at(-1) ?? {}, { style: "deepObject", explode: true });
  }
  if (asksVisitor(operation)) add("header", "X-Visitor-Token", visitorTokenHeader);
  for (const name of operation.headers ?? []) add("header", name, requestHeaders[name]);
  if (operation.asksWork) add("header", "X-Challenge", challengeHeader);
  if (operation.isIdempotent) {
    add("header", "Idempotency-Key", {
      type: "string",
      pattern: "^[\\x20-\\x7e]{1,255}$",
      examples: ["order-4711"],
      description: "A value of your own for this call: sent again within 24 hours, it creates nothing twice.",
    });
  }
  return parameters;
}

function describeResponse(builder: Builder, operation: DescribedRoute, response: ApiResponse): OpenApiResponse {
  const { content } = response;
  const own = [...(response.headers ?? []), ...(operation.isIdempotent ? ["Idempotent-Replayed"] : [])];
  return {
    description: response.description,
    headers: listHeaders(operation.access, own),
    ...(content
      ? {
          content: Object.fromEntries(
            Object.entries(content).map(([type, schema]) => [
              type,
              schema === null ? { schema: { type: "string" } } : describeMedia(builder, schema),
            ]),
          ),
        }
      : {}),
  };
}

function describeMedia({ schemas }: Builder, model: TSchema, example?: object): OpenApiMedia {
  const schema = schemas.add(model);
  const resolve = (reference: string) => schemas.named.get(reference.slice(reference.lastIndexOf("/") + 1)) ?? {};
  return { schema, example: example ?? exampleOf(schema, resolve) };
}
