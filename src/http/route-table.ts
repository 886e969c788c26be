/** Which route a path belongs to, for what is not said by the router: the methods of an address, and the name of a route. */

export interface RoutePlace {
  readonly method: string;
  /** As the router takes it: `/api/keys/:id`, `/app/*`. */
  readonly path: string;
}

export interface RouteTable<Place extends RoutePlace> {
  /** The one that the router takes: without parameters before with, and a parameter before all that is left. */
  find(method: string, path: string): Place | null;
  /** In the order in which routes were added; none where the path has no route. */
  listMethods(path: string): string[];
}

export function createRouteTable<Place extends RoutePlace>(places: readonly Place[]): RouteTable<Place> {
  const fixed = Map.groupBy(
    places.filter(({ path }) => !isPattern(path)),
    ({ path }) => path,
  );
  const patterns = places
    .filter(({ path }) => isPattern(path))
    .map((place) => ({ place, matches: toMatcher(place.path), rank: toRank(place.path) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : Number(a.rank > b.rank)));

  function findFixed(path: string): readonly Place[] {
    return fixed.get(path) ?? (path.length > 2 && path.endsWith("/") ? (fixed.get(path.slice(0, -1)) ?? []) : []);
  }

  return {
    find(method, path) {
      const known = findFixed(path).find((place) => place.method === method);
      if (known !== undefined) return known;
      return patterns.find(({ place, matches }) => place.method === method && matches.test(path))?.place ?? null;
    },
    listMethods(path) {
      const found = [
        ...findFixed(path),
        ...patterns.filter(({ matches }) => matches.test(path)).map(({ place }) => place),
      ];
      return [...new Set(found.map(({ method }) => method))];
    },
  };
}

function isPattern(path: string): boolean {
  return /[:*]/.test(path);
}

/** A slash at the end is passed over, as the router does. */
function toMatcher(path: string): RegExp {
  const source = path
    .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
    .replace(/:\w+/g, "[^/]+")
    .replace(/\*$/, ".*");
  return new RegExp(`^${source}${path.endsWith("*") ? "" : "/?"}$`, "s");
}

/** Sorts by parts from the left: written out, parameter, rest. */
function toRank(path: string): string {
  return path.replace(/\/([:*]?)[^/]*/g, (_, sign: string) => (sign === "" ? "0" : sign === ":" ? "1" : "2"));
}
