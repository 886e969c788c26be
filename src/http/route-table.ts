/** Finds the route of a path where the router does not report it: the methods of an address, the name of a route. */

export interface RouteKey {
  readonly method: string;
  /** In the router's form: `/api/keys/:id`, `/app/*`. */
  readonly path: string;
}

export interface RouteTable<Route extends RouteKey> {
  /** The route that the router would choose: literal parts before parameters, and a parameter before a wildcard. */
  find(method: string, path: string): Route | null;
  /** In the order in which routes were added; empty if the path has no route. */
  listMethods(path: string): string[];
}

export function createRouteTable<Route extends RouteKey>(routes: readonly Route[]): RouteTable<Route> {
  const fixed = Map.groupBy(
    routes.filter(({ path }) => !isPattern(path)),
    ({ path }) => path,
  );
  const patterns = routes
    .filter(({ path }) => isPattern(path))
    .map((route) => ({ route, matches: toMatcher(route.path), rank: toRank(route.path) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : Number(a.rank > b.rank)));

  function findFixed(path: string): readonly Route[] {
    return fixed.get(path) ?? (path.length > 2 && path.endsWith("/") ? (fixed.get(path.slice(0, -1)) ?? []) : []);
  }

  return {
    find(method, path) {
      const known = findFixed(path).find((route) => route.method === method);
      if (known !== undefined) return known;
      return patterns.find(({ route, matches }) => route.method === method && matches.test(path))?.route ?? null;
    },
    listMethods(path) {
      const found = [
        ...findFixed(path),
        ...patterns.filter(({ matches }) => matches.test(path)).map(({ route }) => route),
      ];
      return [...new Set(found.map(({ method }) => method))];
    },
  };
}

function isPattern(path: string): boolean {
  return /[:*]/.test(path);
}

/** A trailing slash is ignored, as the router does. */
function toMatcher(path: string): RegExp {
  const source = path
    .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
    .replace(/:\w+/g, "[^/]+")
    .replace(/\*$/, ".*");
  return new RegExp(`^${source}${path.endsWith("*") ? "" : "/?"}$`, "s");
}

/** Sorts by path segments from the left: literal, parameter, wildcard. */
function toRank(path: string): string {
  return path.replace(/\/([:*]?)[^/]*/g, (_, sign: string) => (sign === "" ? "0" : sign === ":" ? "1" : "2"));
}
