/** What the frame shows of the inbox on every page. One file for all, since the frame is part of the first load. */
import { Inbox } from "lucide-preact";
import { inboxPath } from "../lib/router.ts";
import { use } from "../lib/state.ts";
import { Place } from "../place.tsx";
import { inboxCount } from "./feed.ts";
import { PresenceSwitch } from "./presence-switch.tsx";
import { InboxWatch } from "./watch.tsx";

export function InboxPart({ is }: { is: "place" | "watch" | "presence" | "count" }) {
  if (is === "place") return <InboxPlace />;
  if (is === "count") return <InboxCount />;
  return is === "watch" ? <InboxWatch /> : <PresenceSwitch />;
}

/** In the navigation, with how many wait. */
function InboxPlace() {
  return (
    <Place
      href={inboxPath}
      label="Inbox"
      Icon={Inbox}
      aside={
        <span class="ml-auto flex">
          <Waiting />
        </span>
      }
    />
  );
}

/** In the bar of phones, whose navigation is closed: leads to those who wait. */
function InboxCount() {
  if (use(inboxCount) === 0) return null;
  return (
    <a href={inboxPath} class="flex min-h-9 items-center gap-2 rounded-md px-2 text-muted pointer-coarse:min-h-11">
      <Inbox size={20} aria-hidden="true" />
      <span class="sr-only">Inbox</span>
      <Waiting />
    </a>
  );
}

function Waiting() {
  const waiting = use(inboxCount);
  return (
    waiting > 0 && (
      <span class="rounded-full bg-accent px-2 font-semibold text-on-accent tabular-nums">
        {waiting}
        <span class="sr-only"> waiting</span>
      </span>
    )
  );
}
