/**
 * How commands ask a server on the same machine: HTTP on a Unix socket in its data directory. `GET /1/facts` returns
 * what it runs with, `POST /1/check` also lets it check that. The number changes when an answer loses something.
 * `version` is in every answer, also in the 404 for a path that this version does not know: so each can name the other.
 */

export const protocol = 1;
export const paths = { facts: `/${protocol}/facts`, check: `/${protocol}/check` } as const;

/**
 * Of the one server that may use the directory, or with an id in the middle, where the data is elsewhere and several
 * may.
 */
export function nameSocket(id: string | null): string {
  return id === null ? "companiond.sock" : `companiond-${id}.sock`;
}

export function isSocketName(name: string): boolean {
  return /^companiond(-[0-9a-f]{8})?\.sock$/.test(name);
}
