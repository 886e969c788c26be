/** `/app/companions/:id`: a companion's settings, and deleting it. */
import { Copy, Pause, Play, Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { CompanionFrame } from "../companion/companion-frame.tsx";
import { toDraft, toNewBody } from "../companion/draft.ts";
import { FilesSection } from "../companion/files-section.tsx";
import { CompanionSettings } from "../companion/settings.tsx";
import { call, toSentence } from "../lib/api.ts";
import { useAction, useLoad } from "../lib/load.ts";
import { hasUnsavedWork, homePath, navigate, type Params, releaseGuard } from "../lib/router.ts";
import type { Companion } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { Section } from "../ui/page.tsx";
import { Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { FailureNotice } from "../usage/failed-replies.tsx";
import type { CompanionSet } from "../versions/types.ts";

export default function CompanionPage({ params }: { params: Params }) {
  return (
    <CompanionFrame id={params.id ?? ""}>
      {(companion, { set }) => <OwnPage key={companion.id} companion={companion} onChanged={set} />}
    </CompanionFrame>
  );
}

function OwnPage({ companion, onChanged }: { companion: Companion; onChanged(companion: Companion): void }) {
  // Files know a companion by its slug alone.
  const facts = useLoad<CompanionSet>(companion.slug === null ? null : `${pathOf(companion)}/set`);
  const managed = facts.data?.set == null ? null : facts.data;
  return (
    <>
      <FailureNotice companionId={companion.id} />
      <CompanionSettings companion={companion} managed={managed} onChanged={onChanged}>
        <div class="mt-6">
          <FilesSection
            companion={companion}
            managed={managed}
            onChanged={(next) => {
              onChanged(next);
              void facts.reload();
            }}
          />
        </div>
        <Fate companion={companion} onChanged={onChanged} />
      </CompanionSettings>
    </>
  );
}

function pathOf({ id }: Companion): string {
  return `/api/companions/${id}`;
}

function Fate({ companion, onChanged }: { companion: Companion; onChanged(companion: Companion): void }) {
  const [asked, setAsked] = useState<"pause" | "duplicate" | "delete" | null>(null);
  async function setEnabled(enabled: boolean): Promise<void> {
    onChanged(await call<Companion>("PATCH", pathOf(companion), { body: { enabled } }));
    say(enabled ? "It answers again." : "Paused.");
  }
  const resume = useAction(() => setEnabled(true));
  const duplicate = useAction(async () => {
    const name = [...`${companion.name} (copy)`].slice(0, 100).join("");
    const body = { ...toNewBody(toDraft(companion)), name };
    const made = await call<Companion>("POST", "/api/companions", { body });
    releaseGuard();
    navigate(`/app/companions/${made.id}`);
    say("This is the copy.");
  });
  const error = resume.error ?? duplicate.error;
  return (
    <div class="mt-6">
      <Section title="More">
        <div class="flex flex-wrap gap-2">
          <Button
            icon={Copy}
            isBusy={duplicate.isBusy}
            onClick={() => (hasUnsavedWork() ? setAsked("duplicate") : void duplicate.run())}
          >
            Duplicate
          </Button>
          {companion.enabled ? (
            <Button icon={Pause} onClick={() => setAsked("pause")}>
              Pause
            </Button>
          ) : (
            <Button icon={Play} isBusy={resume.isBusy} onClick={() => void resume.run()}>
              Resume
            </Button>
          )}
          <Button icon={Trash2} kind="risk" onClick={() => setAsked("delete")}>
            Delete…
          </Button>
        </div>
        {error !== null && <Problem class="mt-4">{toSentence(error)}</Problem>}
      </Section>
      {asked === "pause" && (
        <Confirm
          title={`Pause ${companion.name}?`}
          action="Pause"
          kind="primary"
          onConfirm={() => setEnabled(false)}
          onClose={() => setAsked(null)}
        >
          <p>On every website that embeds it the chat disappears until you resume it. Its embed tokens stay.</p>
        </Confirm>
      )}
      {asked === "duplicate" && (
        <Confirm
          title="Duplicate what is saved?"
          action="Duplicate without my changes"
          stay="Go on editing"
          onConfirm={duplicate.run}
          onClose={() => setAsked(null)}
        >
          <p>
            What you changed on this page has not been saved: the copy would not have it, and opening the copy loses it.
            To keep it, go on editing and save first.
          </p>
        </Confirm>
      )}
      {asked === "delete" && (
        <Confirm
          title={`Delete ${companion.name}?`}
          action="Delete for ever"
          typed={{ label: `Type its name to confirm: ${companion.name}`, text: companion.name }}
          onConfirm={async () => {
            await call("DELETE", pathOf(companion));
            releaseGuard();
            navigate(homePath, { replace: true });
            say("Deleted.");
          }}
          onClose={() => setAsked(null)}
        >
          <p>
            Its embed tokens stop working at once, and its conversations are deleted with it. This cannot be undone; its
            usage is kept.
          </p>
        </Confirm>
      )}
    </div>
  );
}
