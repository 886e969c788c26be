/** `/app/companions/:id/settings`: a companion's settings, and deleting it. */
import { Copy, Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { type CompanionPageProps, companionPage } from "../companion/companion-frame.tsx";
import { toDraft, toNewBody } from "../companion/draft.ts";
import { FilesSection } from "../companion/files-section.tsx";
import { CompanionSettings } from "../companion/settings.tsx";
import { call } from "../lib/api.ts";
import { useAction, useLoad } from "../lib/load.ts";
import { hasUnsavedWork, homePath, navigate, releaseGuard } from "../lib/router.ts";
import type { Companion, CompanionSet } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Confirm, ConfirmDelete } from "../ui/dialog.tsx";
import { Section } from "../ui/page.tsx";
import { Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

export default companionPage(Settings);

function Settings({ companion, onChanged }: CompanionPageProps) {
  // Files know a companion by its slug alone.
  const facts = useLoad<CompanionSet>(companion.slug === null ? null : `${pathOf(companion)}/set`);
  const managed = facts.data?.set == null ? null : facts.data;
  return (
    <CompanionSettings companion={companion} managed={managed} onChanged={onChanged}>
      <div class="mt-4">
        <FilesSection
          companion={companion}
          managed={managed}
          onChanged={(next) => {
            onChanged(next);
            void facts.reload();
          }}
        />
      </div>
      <Fate companion={companion} />
    </CompanionSettings>
  );
}

function pathOf({ id }: Companion): string {
  return `/api/companions/${id}`;
}

function Fate({ companion }: { companion: Companion }) {
  const [asked, setAsked] = useState<"duplicate" | "delete" | null>(null);
  const duplicate = useAction(async () => {
    const name = [...`${companion.name} (copy)`].slice(0, 100).join("");
    const { theme_color, avatar_url, appearance } = companion;
    const body = { ...toNewBody(toDraft(companion)), name, theme_color, avatar_url, appearance };
    const made = await call<Companion>("POST", "/api/companions", { body });
    releaseGuard();
    navigate(`/app/companions/${made.id}/settings`);
    say("Copy created.");
  });
  return (
    <div class="mt-4 space-y-4">
      <Section
        title="Duplicate"
        hint="A new companion with these settings, without sources, tools and conversations."
        actions={
          <Button
            icon={Copy}
            isBusy={duplicate.isBusy}
            onClick={() => (hasUnsavedWork() ? setAsked("duplicate") : void duplicate.run())}
          >
            Duplicate
          </Button>
        }
      >
        <Problem error={duplicate.error} />
      </Section>
      <Section
        id="danger"
        title="Delete this companion"
        isRisky
        hint="Its conversations, sources and embed tokens go with it. This can't be undone."
        actions={
          <Button icon={Trash2} kind="risk" onClick={() => setAsked("delete")}>
            Delete…
          </Button>
        }
      />
      {asked === "duplicate" && (
        <Confirm
          title="Duplicate the saved version?"
          action="Duplicate without my changes"
          stay="Keep editing"
          onConfirm={duplicate.run}
          onClose={() => setAsked(null)}
        >
          <p>
            Your changes on this page aren't saved. The copy won't have them, and you'll lose them when it opens. To
            keep them, keep editing and save first.
          </p>
        </Confirm>
      )}
      {asked === "delete" && (
        <ConfirmDelete
          title={`Delete ${companion.name}?`}
          action="Delete permanently"
          typed={{ label: `Type its name to confirm: ${companion.name}`, text: companion.name }}
          path={pathOf(companion)}
          onDone={() => {
            releaseGuard();
            navigate(homePath, { replace: true });
          }}
          onClose={() => setAsked(null)}
        >
          <p>
            Its embed tokens stop working immediately, and its conversations are deleted. This can't be undone. Usage is
            kept.
          </p>
        </ConfirmDelete>
      )}
    </div>
  );
}
