/** Names of companions by id, each requested once. */
import { useEffect } from "preact/hooks";
import { call } from "./api.ts";
import { State, use } from "./state.ts";
import type { Companion } from "./types.ts";

const names = new State<Record<string, string>>({});
const asked = new Set<string>();

/** The names known so far; a deleted companion has none. */
export function useCompanionNames(ids: readonly (string | null | undefined)[]): Record<string, string> {
  const known = use(names);
  const key = [...new Set(ids)].filter(Boolean).join(" ");
  useEffect(() => {
    for (const id of key.split(" ").filter((id) => id !== "" && !asked.has(id))) {
      asked.add(id);
      call<Companion>("GET", `/api/companions/${id}`).then(
        ({ name }) => noteName(id, name),
        () => {},
      );
    }
  }, [key]);
  return known;
}

export function noteName(id: string, name: string): void {
  asked.add(id);
  names.value = { ...names.value, [id]: name };
}
