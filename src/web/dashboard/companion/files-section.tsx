/** What joins a companion with a file that describes it: its slug, and the set of files that manages it. */
import { useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { Companion, CompanionSet } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { Section } from "../ui/page.tsx";
import { Notice } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { nameFields } from "../versions/words.ts";

interface FilesProps {
  companion: Companion;
  managed: CompanionSet | null;
  onChanged(companion: Companion): void;
}

export function FilesSection({ companion, managed, onChanged }: FilesProps) {
  const [isAsked, setIsAsked] = useState(false);
  const { slug } = companion;
  return (
    <Section
      id="files"
      title="Files"
      hint="A slug links this companion to a file that describes it, so the same files work on several servers."
      actions={<Button onClick={() => setIsAsked(true)}>{slug === null ? "Add a slug…" : "Change the slug…"}</Button>}
    >
      <p>
        {slug === null ? (
          <span class="text-muted">No slug yet.</span>
        ) : (
          <code class="font-mono text-[0.92em] wrap-anywhere">{slug}</code>
        )}
      </p>
      {managed && (
        <Notice tone="accent" class="mt-4">
          Managed by files, set <strong class="font-semibold wrap-anywhere">{managed.set}</strong>. They set{" "}
          {nameFields(managed.fields)}: a change of these here shows as drift when the files are applied again.
        </Notice>
      )}
      {isAsked && (
        <SlugDialog companion={companion} managed={managed} onChanged={onChanged} onClose={() => setIsAsked(false)} />
      )}
    </Section>
  );
}

function SlugDialog({ companion, managed, onChanged, onClose }: FilesProps & { onClose(): void }) {
  const [slug, setSlug] = useState(companion.slug ?? "");
  const submit = useAction(async () => {
    const body = { slug: slug.trim() === "" ? null : slug.trim() };
    onChanged(await call<Companion>("PATCH", `/api/companions/${companion.id}`, { body }));
    say("Saved.");
    onClose();
  });
  return (
    <FormDialog title="Slug" action="Save" submit={submit} fields={["slug"]} isThrowaway onClose={onClose}>
      <TextField
        label="Slug"
        isCode
        maxLength={63}
        value={slug}
        onValue={setSlug}
        error={fieldProblem(submit.error, "slug")}
        placeholder="support"
        hint="Lower-case letters, digits, - and _. Leave empty for none."
      />
      {managed && <p class="text-muted">Under another slug it leaves the set {managed.set} that manages it.</p>}
    </FormDialog>
  );
}
