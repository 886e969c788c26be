/**
 * Defines a route: one object, from which the guard, the query, the body, idempotency, the API document and the lists
 * in the tests are derived.
 *
 *     export const itemRoutes = [
 *       route({
 *         id: "updateItem", method: "PATCH", path: "/api/items/{id}", tag: "Companions", summary: "Change an item",
 *         access: "companions:write",
 *         query: { page: pageQuery },         // Left out: a private route refuses every parameter, a public one ignores all.
 *         body: jsonBody(itemPatchBody),
 *         document: () => ({                  // Called when the API document is requested: schemas slow startup down.
 *           responses: { 200: jsonResponse("The item as it is now.", ItemObject) },
 *         }),
 *         async handle({ services, principal, params, query, readBody, writeContext }) {
 *           const item = await getItem(services, principal, params.id);
 *           return toWireItem(await updateItem(services, item, await readBody(), writeContext()));
 *         },
 *       }),
 *     ];
 *
 * The checks run in the contract's order: guard (401, window, 403), query (400), then what the handler reads, in its
 * own order: usually the record in the path (404) before the body (415, 413, 400). Elysia's own schemas are not used:
 * it reads and checks body and query before any hook in which a guard could run.
 *
 * `handle` returns an object (JSON, 200 or the definition's `status`), nothing (204), text for which it set the content
 * type, or a whole Response. With `isIdempotent` it returns `createOnce(…)`: the `status`, 201 by default, or the replay.
 */
import type { EmbedTarget, WriteContext } from "../contracts/store/store.ts";
import type { Services } from "../core/dependencies.ts";
import type { VerifiedVisitor } from "../core/visitors/visitors.ts";
import type { KeyPrincipal, Principal } from "../domain/account.ts";
import {
  type Access,
  type ApiTag,
  type DashboardAccess,
  type EmbedAccess,
  isEmbedAccess,
  type RouteDocument,
} from "./api-description.ts";
import { compressFor } from "./compression.ts";
import { type Asked, openEmbed, pageView, type Work } from "./embed-guard.ts";
import type { Creator, Idempotency } from "./idempotency.ts";
import { type ArrivedBody, type JsonBody, readJsonBody, takeBody } from "./json-body.ts";
import { JsonText, type ResponseHead, respondEmpty, respondJsonText } from "./json-response.ts";
import { storeFor } from "./member-store.ts";
import { openPrincipal, writeContext } from "./principal-guard.ts";
import { createQueryOpener, type QueryParts, type QueryValues } from "./query.ts";
import type { OpenedSession } from "./session-cookie.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type NameIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NameIn<Rest> : never;
type WithoutStar<Name extends string> = Name extends `${infer Open}*` ? Open : Name;
/** `{token_id}` in a path is `tokenId` in the program. */
type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;

interface RequestCall<Path extends string> {
  readonly services: Services;
  readonly request: Request;
  readonly set: ResponseHead;
  /** As sent; empty if an escape could not be decoded. Without the `{rest*}`. */
  readonly params: { readonly [Name in NameIn<Path> as Name extends `${string}*` ? never : CamelCase<Name>]: string };
}

interface PrincipalCall<Who extends Principal> {
  readonly principal: Who;
  /** For a change that the principal makes. */
  writeContext(): WriteContext;
}

type GuardedCall<Who extends Access> = Who extends "public"
  ? unknown
  : Who extends EmbedAccess
    ? {
        readonly target: EmbedTarget;
        readonly visitor: Who extends "visitor" ? VerifiedVisitor : VerifiedVisitor | null;
        /** Null unless the route `asksWork`, and the companion does so now. */
        readonly work: Work | null;
      }
    : PrincipalCall<Who extends DashboardAccess ? OpenedSession : KeyPrincipal | OpenedSession>;

interface BodyCall<Body> {
  /** The validated body. Throws `unsupported_media_type`, `payload_too_large` or `invalid_request`. */
  readBody(): Promise<Body>;
}

interface CreatingCall<Body> {
  /** Reads the body and creates something from it, or replays the response of the call that did: see `Idempotency`. */
  createOnce(make: Creator<Body>): Promise<string>;
}

type Call<Path extends string, Who extends Access, Query extends QueryParts, Body, Once> = RequestCall<Path> &
  GuardedCall<Who> & { readonly query: QueryValues<Query> } & ([Body] extends [never]
    ? unknown
    : Once extends true
      ? CreatingCall<Body>
      : BodyCall<Body>);

type HandlerResult = object | string | undefined;

interface RouteFacts {
  /** Unique; names the call in generated clients. */
  readonly id: string;
  readonly method: Method;
  /** With parameters in braces and snake_case; a final `{rest*}` matches the rest of the path. */
  readonly path: string;
  readonly tag: ApiTag;
  readonly summary: string;
  readonly access: Access;
  /** For the embed route that each view of a page asks for: it shows nothing of anyone, so visitor tokens are not checked. */
  readonly isPageView?: true;
  /** For an embed route that listens, or rates: it counts by address alone, in a window of its own. */
  readonly isLive?: true;
  /** For an embed route that begins something that costs money: the companion may ask for a proof of work first. */
  readonly asksWork?: true;
  /** Also admits an account that still has to set up a required second factor. */
  readonly maySetUp?: true;
  /** The status of a response with a JSON body; 200 by default, with `isIdempotent` 201. */
  readonly status?: 200 | 201 | 202;
  /** Left out: the route is on every server. */
  isOffered?(services: Services): boolean;
}

interface Definition<Path extends string, Who extends Access, Query extends QueryParts, Body, Once extends boolean>
  extends RouteFacts {
  readonly path: Path;
  readonly access: Who;
  readonly query?: Query;
  readonly body?: JsonBody<Body>;
  /** Accepts `Idempotency-Key`. */
  readonly isIdempotent?: Once;
  document(): RouteDocument<WithoutStar<NameIn<Path>>>;
  handle(call: Call<Path, Who, Query, Body, Once>): HandlerResult | Promise<HandlerResult> | Promise<void>;
}

/** A defined route of any type. */
export interface Route extends RouteFacts {
  readonly query: QueryParts;
  readonly body: JsonBody<unknown> | null;
  readonly isIdempotent: boolean;
  document(): RouteDocument;
  /** Runs checks and handler; throws what they throw. */
  respond(site: RouteSite, call: RequestCall<string>): Promise<unknown>;
}

/** Shared by all routes of a site. */
interface RouteSite {
  readonly services: Services;
  readonly idempotency: Idempotency;
}

export function route<
  const Path extends string,
  const Who extends Access,
  Query extends QueryParts = Record<never, never>,
  Body = never,
  const Once extends boolean = false,
>(definition: Definition<Path, Who, Query, Body, Once>): Route {
  const { body = null, query, isIdempotent = false, status = isIdempotent ? 201 : 200, ...facts } = definition;
  const isPrivate = facts.access !== "public" && !isEmbedAccess(facts.access);
  const openQuery = query !== undefined || isPrivate ? createQueryOpener(query ?? {}) : null;
  return {
    ...facts,
    document: () => definition.document(),
    query: query ?? {},
    body,
    isIdempotent,
    async respond({ services, idempotency }, base) {
      const { request, set } = base;
      const guarded = await openGuard(definition, base);
      // Here and below, the definition's types guarantee what is present.
      const { principal } = guarded as PrincipalCall<Principal>;
      const values = openQuery === null ? {} : openQuery(request, services.clock.nowMs());
      const held: ArrivedBody[] = [];
      const reading = body && {
        async readBody() {
          if (body.take === undefined) return await readJsonBody(request, body);
          const arrived = await takeBody(services, { request, principal, body });
          held.push(arrived);
          return body.check(await arrived.parse());
        },
        createOnce: (make: Creator<Body>) => idempotency.createOnce({ request, set, principal, body, status }, make),
      };
      const call = { ...base, ...guarded, query: values, ...reading } as unknown as Parameters<
        typeof definition.handle
      >[0];
      const outcome = await whileHeld(held, () => definition.handle(call));
      if (outcome === undefined) return respondEmpty(set);
      if (typeof outcome === "string" || outcome instanceof Response) return outcome;
      const text = outcome instanceof JsonText ? outcome.text : JSON.stringify(outcome);
      respondJsonText(set, text, status);
      // What carries an ETag is sent as it is tagged.
      if (!isPrivate || facts.method !== "GET" || set.headers["etag"] !== undefined) return text;
      return await compressFor(request, set, text);
    },
  };
}

/** Until the handler has done its work, what was read for it counts as held. */
async function whileHeld<Result>(held: readonly ArrivedBody[], work: () => Result): Promise<Awaited<Result>> {
  try {
    return await work();
  } finally {
    for (const body of held) body.release();
  }
}

async function openGuard(route: RouteFacts, call: RequestCall<string>) {
  const { access, isPageView = false, isLive = false, asksWork = false } = route;
  const { services, request, set } = call;
  if (access === "public") return {};
  if (access === "embed" || access === "visitor") {
    const { token = "" } = call.params as { token?: string };
    const visitors = access === "visitor" ? "everyone" : "as the companion does";
    const asks: Asked = isPageView ? pageView : { visitors, use: isLive ? "live" : asksWork ? "spending" : "reading" };
    return await openEmbed(services, request, token, set.headers, asks);
  }
  const principal = await openPrincipal(services, request, access, set.headers, route);
  const guarded = { principal, writeContext: () => writeContext(services, request, principal) };
  const store = storeFor(services.store, principal);
  return store === services.store ? guarded : { ...guarded, services: { ...services, store } };
}
