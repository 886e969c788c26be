/** `/app/companions/:id/appearance`: how a companion's chat is drawn on a website. */
import { toAppearanceBody, toAppearanceDraft } from "../appearance/appearance-draft.ts";
import { AppearanceEditor } from "../appearance/appearance-editor.tsx";
import { type CompanionPageProps, companionPage } from "../companion/companion-frame.tsx";
import { call, changedFields, tagOf } from "../lib/api.ts";
import type { Companion } from "../lib/types.ts";
import { useGuardedSave } from "../ui/guarded-save.tsx";
import { say } from "../ui/toast.tsx";

const words = { theme_color: "colour", avatar_url: "avatar image URL", appearance: "appearance" } as const;

const bodyOf = (companion: Companion) => toAppearanceBody(toAppearanceDraft(companion));

export default companionPage(Appearance);

function Appearance({ companion, onChanged }: CompanionPageProps) {
  const path = `/api/companions/${companion.id}`;
  const { save, question } = useGuardedSave<Companion, ReturnType<typeof toAppearanceDraft>>({
    name: companion.name,
    base: companion,
    tagOf,
    read: () => call<Companion>("GET", path),
    findChanged: (before, after) =>
      Object.keys(changedFields(bodyOf(before), bodyOf(after))).map((field) => words[field as keyof typeof words]),
    async write(draft, _, ifMatch) {
      const body = changedFields(bodyOf(companion), toAppearanceBody(draft));
      onChanged(await call<Companion>("PATCH", path, { body, ifMatch }));
      say("Saved. Visitors see it within a minute.");
    },
    load: onChanged,
  });
  return (
    <>
      <AppearanceEditor companion={companion} onSave={save} onUploaded={onChanged} />
      {question}
    </>
  );
}
