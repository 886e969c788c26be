/** Writes a text source, or edits one: as its owner wrote it, and over the version that was read. */
import { useMemo } from "preact/hooks";
import { call, tagOf } from "../lib/api.ts";
import { changedFields } from "../lib/changed-fields.ts";
import { type Loaded, useLoad } from "../lib/load.ts";
import type { Source } from "../lib/types.ts";
import { LoadingDialog, useGuardedSave } from "../ui/guarded-save.tsx";
import { say } from "../ui/toast.tsx";
import { type KeptText, readKeptText, toWritten, type WrittenText } from "./kept-text.ts";
import { TextForm } from "./text-form.tsx";

const words: Record<keyof WrittenText, string> = { title: "title", text: "text", url: "address" };

interface WriteProps {
  /** Of the companion's sources. */
  path: string;
  onSaved(source: Source): void;
  onClose(): void;
}

export function WriteText({ path, onSaved, onClose }: WriteProps) {
  async function add(written: WrittenText): Promise<void> {
    onSaved(await call<Source>("POST", path, { body: { type: "text", ...written } }));
    say("Added: it is being read.");
    onClose();
  }
  return <TextForm path={null} kept={null} onSave={add} onClose={onClose} />;
}

interface EditProps extends WriteProps {
  source: Pick<Source, "id">;
}

/** Never empty because it could not be loaded: saving that would overwrite what there is. */
export function EditText({ path, source, ...rest }: EditProps) {
  const at = `${path}/${source.id}`;
  const loaded = useLoad(at, readKeptText);
  if (loaded.data === null) return <LoadingDialog title="Edit the text" of={loaded} onClose={rest.onClose} />;
  return <EditLoaded {...rest} path={at} kept={loaded.data} set={loaded.set} />;
}

interface LoadedProps extends WriteProps, Pick<Loaded<KeptText>, "set"> {
  kept: KeptText;
}

function EditLoaded({ path, kept, set, onSaved, onClose }: LoadedProps) {
  const written = useMemo(() => toWritten(kept), [kept]);
  const { save, question } = useGuardedSave<KeptText, WrittenText>({
    name: kept.source.title,
    base: kept,
    tagOf: ({ source }) => tagOf(source),
    read: () => readKeptText(path),
    findChanged: (before, after) =>
      Object.keys(changedFields(toWritten(before), toWritten(after))).map((name) => words[name as keyof WrittenText]),
    async write(mine, over, ifMatch) {
      const body = { type: "text", ...toWritten(over), ...changedFields(written, mine) };
      onSaved(await call<Source>("PUT", path, { body, ifMatch }));
      say("Saved: the new text is being read.");
      onClose();
    },
    load: set,
  });
  return (
    <>
      <TextForm path={path} kept={written} onSave={save} onClose={onClose} />
      {question}
    </>
  );
}
