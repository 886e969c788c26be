/**
 * Checks every response that a test fetches from our server against the API document: an undocumented one fails the
 * test.
 */
import Ajv2020, { type ErrorObject, type ValidateFunction } from "ajv/dist/2020";
import addFormats from "ajv-formats";
import {
  buildDocument,
  type OpenApiDocument,
  type OpenApiOperation,
  type OpenApiResponse,
} from "../../src/api/docs/document.ts";
import { routes } from "../../src/app/routes.ts";

export const apiDocument: OpenApiDocument = JSON.parse(
  JSON.stringify(buildDocument(routes, { baseUrl: "http://localhost:3000", version: "0.0.0" })),
);

export class Nonconformance extends Error {}

const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
addFormats(ajv);
ajv.addSchema(apiDocument, "api");

const validators = new Map<string, ValidateFunction>();

/** A validator for the schema at a JSON pointer into the document. */
export function validatorAt(pointer: string): ValidateFunction {
  const known = validators.get(pointer);
  if (known) return known;
  const validator = ajv.compile({ $ref: `api#${pointer}` });
  validators.set(pointer, validator);
  return validator;
}

export function toPointer(...parts: string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("");
}

/** Divided once: each response of each test asks. */
const knownPaths = Object.keys(apiDocument.paths).map((path) => {
  const names = path === "/" ? [""] : path.split("/");
  // A parameter named `path` matches the rest of the path.
  const takesRest = names.at(-1) === "{path}";
  return { path, names, takesRest, parameters: names.filter((name) => name.startsWith("{")).length };
});
knownPaths.sort((one, other) => one.parameters - other.parameters);

/** The documented path that matches a URL's path: the one with the fewest parameters. */
function findPath(pathname: string): string | null {
  const parts = pathname.split("/").filter((part, index, all) => part !== "" || index < all.length - 1);
  const isMatch = ({ names, takesRest }: (typeof knownPaths)[number]) =>
    (names.length === parts.length || (takesRest && parts.length > names.length)) &&
    names.every((name, index) => name === parts[index] || name.startsWith("{"));
  return knownPaths.find(isMatch)?.path ?? null;
}

/** Under `bun test` each response is checked where it is fetched; a test that checks its own again pays once. */
const checked = new WeakSet<Response>();

/** Throws `Nonconformance` if the response is undocumented. Reads JSON bodies from a copy, and streams not at all. */
export async function checkConformance(method: string, url: string, response: Response): Promise<void> {
  if (method === "HEAD" || checked.has(response)) return;
  checked.add(response);
  const { pathname } = new URL(url);
  const path = findPath(pathname === "" ? "/" : pathname);
  const refuse = (reason: string): never => {
    throw new Nonconformance(`${method} ${pathname} answered ${response.status}, but ${reason}`);
  };
  if (!response.headers.has("x-request-id")) refuse("without X-Request-Id");
  if (method === "OPTIONS" && response.status === 204) return;
  if (response.status === 405 && !response.headers.has("allow")) refuse("without Allow");

  const operation = path === null ? undefined : apiDocument.paths[path]?.[method.toLowerCase()];
  if (path === null || operation === undefined) {
    const expected = path === null ? 404 : 405;
    // The router may not know any method on `/avatars/x`.
    if (response.status !== expected && response.status !== 404) refuse("no such call is described");
    if (isPageFor(pathname, response)) return;
    const shape = /^\/v1(\/|$)/.test(pathname) ? "OpenAiError" : "Problem";
    return checkBody(response, toPointer("components", "schemas", shape), refuse);
  }
  await checkResponse(response, path, method, operation, refuse, new URL(url).searchParams.has("fields"));
}

/** Outside the API, browsers get a page instead of a problem. */
function isPageFor(pathname: string, response: Response): boolean {
  const isPage = mediaType(response.headers.get("content-type")) === "text/html";
  return isPage && !/^\/(api|v1)(\/|$)/.test(pathname) && (response.headers.get("vary") ?? "").includes("Accept");
}

async function checkResponse(
  response: Response,
  path: string,
  method: string,
  operation: OpenApiOperation,
  refuse: (reason: string) => never,
  isPartial: boolean,
): Promise<void> {
  const status = String(response.status);
  const described = operation.responses[status];
  if (described === undefined) {
    const documented = Object.keys(operation.responses).join(", ");
    return refuse(`only ${documented} are documented: ${await response.clone().text()}`);
  }
  if (status === "429" && !response.headers.has("retry-after")) refuse("without Retry-After");
  if (status === "401" && !response.headers.has("www-authenticate")) refuse("without WWW-Authenticate");
  const name = "$ref" in described ? described.$ref.slice("#/components/responses/".length) : null;
  const answer = name === null ? (described as OpenApiResponse) : apiDocument.components.responses?.[name];
  const content = (answer as OpenApiResponse | undefined)?.content;
  const type = mediaType(response.headers.get("content-type"));
  if (content === undefined) {
    if (type !== null) refuse(`with a body of ${type}, where none is documented`);
    return;
  }
  const documentedType = Object.keys(content).find((candidate) => mediaType(candidate) === type);
  if (documentedType === undefined) return refuse(`as ${type}, not as ${Object.keys(content).join(" or ")}`);
  if (type !== "application/json" && type !== "application/problem+json") return;
  const place =
    name === null ? ["paths", path, method.toLowerCase(), "responses", status] : ["components", "responses", name];
  await checkBody(response, toPointer(...place, "content", documentedType, "schema"), refuse, isPartial);
  if (type !== "application/problem+json") return;
  // All problems have one schema: each code that a call can answer with has an example.
  const { code } = (await response.clone().json()) as { code: string };
  const codes = Object.keys(content[documentedType]?.examples ?? {});
  if (!codes.includes(code)) refuse(`with ${code}, where only ${codes.join(", ")} are documented`);
}

/** Fields of a companion, which a responder's response omits: its tests show that others have them. */
const keptFromResponders = new Set(["system_prompt", "embed_token"]);

/** Partial: the items of a list have only the fields that were asked for, and these are as documented. */
async function checkBody(
  response: Response,
  pointer: string,
  refuse: (reason: string) => never,
  isPartial = false,
): Promise<void> {
  const validate = validatorAt(pointer);
  const text = await response.clone().text();
  if (validate(JSON.parse(text))) return;
  const isLeftOut = ({ keyword, instancePath, params }: ErrorObject) =>
    keyword === "required" &&
    ((isPartial && /^\/data\/\d+$/.test(instancePath)) || keptFromResponders.has(params["missingProperty"]));
  const errors = validate.errors?.filter((error) => !isLeftOut(error)) ?? [];
  if (errors.length === 0) return;
  const faults = errors.map((error) => `${error.instancePath || "the body"} ${error.message}`).join("; ");
  refuse(`not as documented: ${faults}: ${text.slice(0, 1000)}`);
}

function mediaType(header: string | null): string | null {
  return header?.split(";", 1)[0]?.trim().toLowerCase() ?? null;
}
