/** What the frame shows of the inbox on every page. One file for all, since the frame is part of the first load. */
import { Inbox } from "lucide-preact";
import { inboxPath } from "../lib/router.ts";
import { use } from "../lib/state.ts";
import { Place } from "../place.tsx";
import { inboxCount } from "./feed.ts";
import { PresenceSwitch } from "./presence-switch.tsx";
import { InboxWatch } from "./watch.tsx";

export function InboxPart({ is }: { is: "place" | "watch" | "presence" }) {
  if (is === "place") return <InboxPlace />;
  return is === "watch" ? <InboxWatch /> : <PresenceSwitch />;
}

/** In the navigation, with how many wait. */
function InboxPlace() {
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
