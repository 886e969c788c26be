/** A route with everything that the API document says about it. */
import type { TSchema } from "@sinclair/typebox";
import { schemasOf } from "../../http/query.ts";
import type { Route } from "../../http/route.ts";

export type DescribedRoute = ReturnType<typeof describeRoute>;

export function describeRoute(route: Route) {
  const { query: ownQuery, ...document } = route.document();
  const parts = Object.values(route.query);
  const query: Record<string, TSchema> = Object.assign({}, ...parts.map(schemasOf), ownQuery);
  const takesMetadata = parts.some((part) => part.takesMetadata);
  return { ...route, ...document, path: route.path.replace("*}", "}"), query, takesMetadata };
}
