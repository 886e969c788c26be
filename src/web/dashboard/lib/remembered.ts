/** What this browser alone remembers of an account: that something was seen, or closed. */
import { useState } from "preact/hooks";
import { keep, recall } from "./browser-storage.ts";
import { useSession } from "./session.ts";

/** Whether it is remembered, and how it comes to be. */
export function useRemembered(what: string): [isSet: boolean, set: () => void] {
  const { account } = useSession();
  const key = `companiond-${what}:${account.id}`;
  const [isSet, setIsSet] = useState(() => recall(key) !== null);
  const set = () => {
    setIsSet(true);
    keep(key, "yes");
  };
  return [isSet, set];
}
