/** Above a companion's settings while it has a draft: what that changes, and publishing or discarding it. */
import { useState } from "preact/hooks";
import { tagOf } from "../lib/api.ts";
import type { Companion, CompanionDraft } from "../lib/types.ts";
import { Button, ButtonLink } from "../ui/button.tsx";
import { ConfirmDelete } from "../ui/dialog.tsx";
import { Notice } from "../ui/states.tsx";
import { PublishDialog } from "./publish-dialog.tsx";
import { draftPath } from "./unpublished.ts";
import { nameFields } from "./words.ts";

interface BannerProps {
  companion: Companion;
  draft: CompanionDraft;
  /** Whether the page edits it, and not what is live. */
  isEdited: boolean;
  onPublished(companion: Companion): void;
  /** It is gone, or another one. */
  onGone(): void;
}

export function DraftBanner({ companion, draft, isEdited, onPublished, onGone }: BannerProps) {
  const [asked, setAsked] = useState<"publish" | "discard" | null>(null);
  const base = `/app/companions/${companion.id}`;
  const { changed } = draft;
  return (
    <Notice tone="accent" class="mb-6">
      <div class="flex flex-wrap items-center gap-x-4 gap-y-3">
        <p role="status" class="min-w-0 flex-1 basis-72 text-pretty">
          {isEdited ? (
            <>
              <strong class="font-semibold">You are editing the draft.</strong> Visitors won't see it until you publish.{" "}
            </>
          ) : (
            <>
              <strong class="font-semibold">You have a draft.</strong> This page shows what's live.{" "}
            </>
          )}
          {changed.length === 0 ? "It doesn't change anything yet." : `It changes ${nameFields(changed)}.`}
        </p>
        <div class="flex flex-wrap gap-2">
          <ButtonLink href={`${base}/settings${isEdited ? "" : "?edit=draft"}`}>
            {isEdited ? "Edit live version" : "Edit draft"}
          </ButtonLink>
          <ButtonLink href={`${base}/playground?as=compare`}>Compare</ButtonLink>
          <Button kind="risk" onClick={() => setAsked("discard")}>
            Discard…
          </Button>
          <Button kind="primary" onClick={() => setAsked("publish")}>
            Publish…
          </Button>
        </div>
      </div>
      {asked === "publish" && (
        <PublishDialog
          companion={companion}
          draft={draft}
          onPublished={onPublished}
          onStale={onGone}
          onClose={() => setAsked(null)}
        />
      )}
      {asked === "discard" && (
        <ConfirmDelete
          title="Discard the draft?"
          action="Discard draft"
          path={draftPath(companion.id)}
          ifMatch={tagOf(draft)}
          done="Draft discarded."
          onDone={onGone}
          onClose={() => setAsked(null)}
        >
          <p>{changed.length === 0 ? "The draft" : `Its changes (${nameFields(changed)})`} can't be recovered.</p>
        </ConfirmDelete>
      )}
    </Notice>
  );
}
