/** In the frame: whether someone is there for visitors, who else is, and how they are alerted. */
import { Bell, BellOff, Volume2, VolumeX } from "lucide-preact";
import { call, toSentence } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import { use } from "../lib/state.ts";
import { personIdOf } from "../members/who.ts";
import { IconButton } from "../ui/button.tsx";
import { say } from "../ui/toast.tsx";
import { alerts, mayNotify, playSound } from "./alerts.ts";
import { presence } from "./feed.ts";
import { namePerson } from "./words.ts";

export function PresenceSwitch() {
  const ownId = personIdOf(useSession());
  const known = use(presence);
  const hasSound = use(alerts.sound);
  const hasNotices = use(alerts.notices) && mayNotify();
  const isAvailable = known?.available ?? false;
  const change = useAction(async () => {
    const { available } = await call<{ available: boolean }>("PUT", "/api/presence", {
      body: { available: !isAvailable },
    }).catch((error: unknown) => {
      say(toSentence(error));
      throw error;
    });
    if (presence.value) presence.value = { ...presence.value, available };
  });
  const others = (known?.members ?? []).filter(({ id }) => id !== ownId).map((person) => namePerson(person, ownId));

  async function toggleNotices(): Promise<void> {
    if (hasNotices) alerts.notices.value = false;
    else if ("Notification" in window && (await Notification.requestPermission()) === "granted")
      alerts.notices.value = true;
    else say("Your browser blocks notifications from this site. You can allow them in its settings.");
  }

  return (
    <div class="mb-2">
      <div class="flex items-center justify-between pl-2">
        <button
          type="button"
          role="switch"
          aria-checked={isAvailable}
          disabled={known === null || change.isBusy}
          onClick={() => void change.run()}
          class="flex items-center gap-2 py-1.5 text-13 font-medium whitespace-nowrap disabled:opacity-55"
        >
          <span
            aria-hidden="true"
            class={`inline-flex w-9 shrink-0 rounded-full p-0.5 ${isAvailable ? "justify-end bg-accent" : "bg-edge"}`}
          >
            <span class="size-4 rounded-full bg-card" />
          </span>
          <span class={isAvailable ? "" : "text-muted"}>
            Available{!isAvailable && <span aria-hidden="true"> · off</span>}
          </span>
        </button>
        <span class="flex">
          <IconButton
            label="Notifications in this browser"
            icon={hasNotices ? Bell : BellOff}
            size={16}
            aria-pressed={hasNotices}
            onClick={() => void toggleNotices()}
          />
          <IconButton
            label="Sound"
            icon={hasSound ? Volume2 : VolumeX}
            size={16}
            aria-pressed={hasSound}
            onClick={() => {
              alerts.sound.value = !hasSound;
              if (!hasSound) playSound();
            }}
          />
        </span>
      </div>
      {others.length > 0 && (
        <p dir="auto" class="truncate px-3 text-13 text-muted" title={others.join(", ")}>
          Also present: {others.join(", ")}
        </p>
      )}
    </div>
  );
}
