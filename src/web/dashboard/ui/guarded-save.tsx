/** Drafts of forms, and saving them over the version that was read, and no other: what was changed elsewhere is shown first. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { ApiError, call, changedFields, fieldProblem, tagOf } from "../lib/api.ts";
import { type Loaded, useAction, useLoad } from "../lib/load.ts";
import { Button } from "./button.tsx";
import { Dialog, DialogActions, type DialogProps } from "./dialog.tsx";
import { Pending, Problem } from "./states.tsx";
import { say } from "./toast.tsx";

interface Author {
  /** "jo@shop.example changed the prompt 2 minutes ago." */
  sentence: string;
  /** Of what changed. */
  href: string;
}

interface Guarded<Kept, Mine> {
  /** Of what is edited, for people. */
  name: string;
  /** The version that the form began with. */
  base: Kept;
  tagOf(kept: Kept): string | undefined;
  read(): Promise<Kept>;
  /** What differs between two versions, in words of the form. */
  findChanged(before: Kept, after: Kept): readonly string[];
  /** Saves what was changed here over that version: with its tag, only while it is the one that is there. */
  write(mine: Mine, over: Kept, ifMatch?: string): Promise<void>;
  /** Who has changed it since, where that is known. */
  findAuthor?(before: Kept, after: Kept): Promise<Author | null>;
  /** Begins again, with another version. */
  load(theirs: Kept): void;
}

export function useGuardedSave<Kept, Mine>(guarded: Guarded<Kept, Mine>) {
  const { name, base, tagOf, read, findChanged, write, load, findAuthor } = guarded;
  const [conflict, setConflict] = useState<{ theirs: Kept; mine: Mine; author: Author | null } | null>(null);

  async function saveOver(known: Kept, mine: Mine): Promise<void> {
    try {
      await write(mine, known, tagOf(known));
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412)) throw error;
      const theirs = await read();
      if (findChanged(known, theirs).length > 0) {
        // The question comes without it too.
        const author = (await findAuthor?.(known, theirs).catch(() => null)) ?? null;
        setConflict({ theirs, mine, author });
        return;
      }
      // Nothing of the form was changed, or a proxy has its own tags.
      await write(mine, theirs);
    }
    setConflict(null);
  }

  const question = conflict && (
    <ConflictDialog
      name={name}
      fields={findChanged(base, conflict.theirs)}
      author={conflict.author}
      onSave={() => saveOver(conflict.theirs, conflict.mine)}
      onLoad={() => load(conflict.theirs)}
      onClose={() => setConflict(null)}
    />
  );
  return { save: (mine: Mine) => saveOver(base, mine), question };
}

interface DraftRules<Kept, Draft, Field extends string> {
  /** The version that the form begins with; null for a new one. */
  kept: Kept | null;
  toDraft(kept: Kept | null): Draft;
  findProblems(draft: Draft): NoInfer<Partial<Record<Field, string>>>;
  /** Those whose errors the form shows. */
  fields: readonly Field[];
  /** Takes a draft without problems. */
  onSave(draft: Draft): Promise<void>;
}

/** The draft of a form's fields: begins again with another version, and shows problems once it was to be saved. */
export function useDraft<Kept, Draft, Field extends string>(rules: DraftRules<Kept, Draft, Field>) {
  const { kept, toDraft, findProblems, fields, onSave } = rules;
  const [draft, setDraft] = useState(() => toDraft(kept));
  useLayoutEffect(() => setDraft(toDraft(kept)), [kept]);
  const [isTried, setIsTried] = useState(false);
  const own = isTried ? findProblems(draft) : null;
  const submit = useAction(async () => {
    setIsTried(true);
    if (Object.keys(findProblems(draft)).length === 0) return await onSave(draft);
    requestAnimationFrame(() => document.querySelector<HTMLElement>("dialog [aria-invalid=true]")?.focus());
  });
  return {
    draft,
    change: (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part })),
    problemOf: (field: Field) => own?.[field] ?? fieldProblem(submit.error, field),
    /** Of the dialog. */
    form: { kept: kept as object | null, submit, fields },
  };
}

interface EditProps<Kept extends object, Draft> {
  /** Of what is edited, in the API. */
  path: string;
  /** For people. */
  name: string;
  toDraft(kept: Kept): Draft;
  /** What is sent of a draft, with what has not changed. */
  toBody(draft: Draft): object;
  /** What is sent beside it. */
  headersOf?(draft: Draft): Record<string, string>;
  /** What differs between two versions, in words of the form. */
  findChanged(before: Kept, after: Kept): readonly string[];
  onSaved(): Promise<void>;
  onClose(): void;
  /** The form, which begins with this version. */
  children(kept: Kept, save: (draft: Draft) => Promise<void>): ComponentChildren;
}

/** Loads the object to edit, and saves the fields that were changed over that version. */
export function EditDialog<Kept extends object, Draft>(props: EditProps<Kept, Draft>) {
  const loaded = useLoad<Kept>(props.path);
  const { data } = loaded;
  if (data === null) return <LoadingDialog title={`Edit ${props.name}`} of={loaded} onClose={props.onClose} />;
  return <EditLoaded {...props} kept={data} set={loaded.set} />;
}

interface EditLoadedProps<Kept extends object, Draft> extends EditProps<Kept, Draft> {
  kept: Kept;
  set(kept: Kept): void;
}

function EditLoaded<Kept extends object, Draft>(props: EditLoadedProps<Kept, Draft>) {
  const { path, name, kept, set, toDraft, toBody, headersOf, findChanged, onSaved, onClose, children } = props;
  const { save, question } = useGuardedSave<Kept, Draft>({
    name,
    base: kept,
    tagOf,
    read: () => call("GET", path),
    findChanged,
    async write(draft, _, ifMatch) {
      const body = changedFields(toBody(toDraft(kept)), toBody(draft));
      await call("PATCH", path, { body, ifMatch, headers: headersOf?.(draft) ?? {} });
      say("Saved.");
      await onSaved();
      onClose();
    },
    load: set,
  });
  return (
    <>
      {children(kept, save)}
      {question}
    </>
  );
}

/** Instead of a dialog whose version is still to come: nothing, or why it could not be loaded. */
export function LoadingDialog({ of, ...dialog }: Omit<DialogProps, "children"> & { of: Loaded<unknown> }) {
  if (of.error === null) return null;
  return (
    <Dialog {...dialog}>
      <Pending of={of} />
    </Dialog>
  );
}

interface ConflictProps {
  name: string;
  /** What was changed elsewhere, in words. */
  fields: readonly string[];
  author: Author | null;
  onSave(): Promise<void>;
  onLoad(): void;
  onClose(): void;
}

/** What is asked when something was changed elsewhere while it was edited here. */
function ConflictDialog({ name, fields, author, onSave, onLoad, onClose }: ConflictProps) {
  const save = useAction(onSave);
  return (
    <Dialog
      title={`${name.charAt(0).toUpperCase()}${name.slice(1)} was changed while you were editing`}
      onClose={onClose}
    >
      <div class="space-y-3 text-pretty text-muted">
        <p>
          {author ? (
            <>
              <span dir="auto">{author.sentence}</span>{" "}
              <a href={author.href} target="_blank" rel="noreferrer" class="text-accent underline">
                View
              </a>
            </>
          ) : (
            "Someone else, or you in another tab, saved a change."
          )}{" "}
          Changed there: <strong class="font-medium text-ink">{fields.join(", ")}</strong>. Your changes aren't saved
          yet.
        </p>
        <p>Keep yours: the fields you changed become yours, the others stay as they are. Use theirs: yours are lost.</p>
      </div>
      <Problem error={save.error} class="mt-4" />
      <DialogActions>
        <Button onClick={onClose}>Keep editing</Button>
        <Button
          kind="risk"
          onClick={() => {
            onLoad();
            onClose();
          }}
        >
          Use theirs
        </Button>
        <Button kind="primary" isBusy={save.isBusy} onClick={() => void save.run()}>
          Keep mine
        </Button>
      </DialogActions>
    </Dialog>
  );
}
