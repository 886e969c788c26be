/** The inbox in the navigation, with how many wait. */
import { Inbox } from "lucide-preact";
import { Place } from "../frame.tsx";
import { inboxPath } from "../lib/router.ts";
import { inboxCount } from "../lib/session.ts";
import { use } from "../lib/state.ts";

export function InboxPlace() {
  const waiting = use(inboxCount);
  return (
    <Place
      href={inboxPath}
      label="Inbox"
      Icon={Inbox}
      aside={
        waiting > 0 && (
          <span class="ml-auto rounded-full bg-accent px-2 font-semibold text-on-accent tabular-nums">
            {waiting}
            <span class="sr-only"> waiting</span>
          </span>
        )
      }
    />
  );
}
