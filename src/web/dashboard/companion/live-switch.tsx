/** In the head of a companion's pages: whether visitors see it. */
import { useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { Companion } from "../lib/types.ts";
import { Confirm } from "../ui/dialog.tsx";
import { Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

interface LiveSwitchProps {
  companion: Companion;
  onChanged(companion: Companion): void;
}

export function LiveSwitch({ companion, onChanged }: LiveSwitchProps) {
  const [isAsked, setIsAsked] = useState(false);
  const { id, name, enabled } = companion;
  const set = async (enabled: boolean) => {
    onChanged(await call<Companion>("PATCH", `/api/companions/${id}`, { body: { enabled } }));
    say(enabled ? "Back online." : "Paused.");
  };
  const resume = useAction(() => set(true));
  return (
    <>
      <button
        type="button"
        role="switch"
        aria-checked={enabled}
        aria-busy={resume.isBusy}
        disabled={resume.isBusy}
        onClick={() => (enabled ? setIsAsked(true) : void resume.run())}
        class="inline-flex min-h-9 items-center gap-2 rounded-lg px-2 text-14 font-medium hover:bg-sunken"
      >
        <span class={`flex h-5 w-9 rounded-full p-0.5 ${enabled ? "justify-end bg-good" : "bg-edge"}`}>
          <span class="size-4 rounded-full bg-card" />
        </span>
        Live
      </button>
      <Problem error={resume.error} />
      {isAsked && (
        <Confirm
          title={`Pause ${name}?`}
          action="Pause"
          kind="primary"
          onConfirm={() => set(false)}
          onClose={() => setIsAsked(false)}
        >
          <p>The chat disappears from your websites until you turn it back on. Your embed tokens stay valid.</p>
        </Confirm>
      )}
    </>
  );
}
