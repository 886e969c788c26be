/** `/api/keys` and `/api/visitor-keys`: what opens the API, and what vouches for visitors. */
import type {
  ApiKeyList,
  ListKeysQuery,
  ListVisitorKeysQuery,
  NewApiKey,
  NewApiKeyAnswer,
  NewVisitorKey,
  NewVisitorKeyAnswer,
  VisitorKeyList,
} from "../generated/wire.ts";
import { iteratePages } from "../pages.ts";
import type { CallOptions } from "../transport.ts";
import { type CreateOptions, creationHeaders, type Transport } from "../transport.ts";

export function keyCalls(transport: Transport) {
  const path = ["api", "keys"];
  const list = (query: ListKeysQuery = {}, options: CallOptions = {}) =>
    transport.json<ApiKeyList>({ method: "GET", path, query }, options);

  return {
    list,
    listAll: (query: ListKeysQuery = {}, options: CallOptions = {}) =>
      iteratePages(query, (page) => list(page, options)),

    /** The whole key is in this answer only, and not in that to a repeated call. */
    create: (key: NewApiKey, options: CreateOptions = {}) =>
      transport.json<NewApiKeyAnswer>({ method: "POST", path, body: key, headers: creationHeaders(options) }, options),

    /** Refused from now on, and so are the keys that it made. */
    revoke: (id: string, options: CallOptions = {}) =>
      transport.send({ method: "DELETE", path: [...path, id] }, options),
  };
}

export function visitorKeyCalls(transport: Transport) {
  const path = ["api", "visitor-keys"];
  return {
    list: (query: ListVisitorKeysQuery = {}, options: CallOptions = {}) =>
      transport.json<VisitorKeyList>({ method: "GET", path, query }, options),

    /** A secret that the server made is in this answer only. */
    create: (key: NewVisitorKey, options: CreateOptions = {}) =>
      transport.json<NewVisitorKeyAnswer>(
        { method: "POST", path, body: key, headers: creationHeaders(options) },
        options,
      ),

    revoke: (id: string, options: CallOptions = {}) =>
      transport.send({ method: "DELETE", path: [...path, id] }, options),
  };
}
