/** What this browser alone remembers of an account: that something was seen, or closed. */
import { useState } from "preact/hooks";
import { useSession } from "./session.ts";

/** Whether it is remembered, and how it comes to be. Where the browser stores nothing, until the page is left. */
export function useRemembered(what: string): [isSet: boolean, set: () => void] {
  const { account } = useSession();
  const key = `companiond-${what}:${account.id}`;
  const [isSet, setIsSet] = useState(() => recall(key));
  const set = () => {
    setIsSet(true);
    try {
      localStorage.setItem(key, "yes");
    } catch {
      // See above.
    }
  };
  return [isSet, set];
}

function recall(key: string): boolean {
  try {
    return localStorage.getItem(key) !== null;
  } catch {
    return false;
  }
}
