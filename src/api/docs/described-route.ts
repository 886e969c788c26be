/** A route with everything that the API document says about it. */
import type { TSchema } from "@sinclair/typebox";
import { embedTokenParam, idParam } from "../../http/api-description.ts";
import { schemasOf } from "../../http/query.ts";
import type { Route } from "../../http/route.ts";

export type DescribedRoute = ReturnType<typeof describeRoute>;

export function describeRoute(route: Route) {
  const { query: ownQuery, params: ownParams = {}, ...document } = route.document();
  const parts = Object.values(route.query);
  const query: Record<string, TSchema> = Object.assign({}, ...parts.map(schemasOf), ownQuery);
  const takesMetadata = parts.some((part) => part.takesMetadata);
  const path = route.path.replace("*}", "}");
  return { ...route, ...document, path, params: describeParams(path, ownParams), query, takesMetadata };
}

/** In the order of the path. */
function describeParams(path: string, own: Readonly<Partial<Record<string, TSchema>>>): Record<string, TSchema> {
  const params: Record<string, TSchema> = {};
  for (const [, segment = "", name = ""] of path.matchAll(/([\w-]+)\/\{(\w+)\}/g)) {
    const schema = own[name] ?? findUsual(segment, name);
    if (schema !== null) params[name] = schema;
  }
  return params;
}

function findUsual(segment: string, name: string): TSchema | null {
  if (name === "token") return embedTokenParam;
  return name === "id" || name.endsWith("_id") ? idParam(segment.replace("-", " ").replace(/s$/, "")) : null;
}
