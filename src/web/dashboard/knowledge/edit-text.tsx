/**
 * Writes a text source, or edits one: as its owner wrote it, and over the version that was read. The editor knows one
 * line end; what no one touched stays byte for byte.
 */
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { toAddress } from "../lib/address.ts";
import { call, changedFields, fieldProblem, send, tagOf } from "../lib/api.ts";
import { type Loaded, useAction, useLoad } from "../lib/load.ts";
import type { Source } from "../lib/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { LoadingDialog, useGuardedSave } from "../ui/guarded-save.tsx";
import { say } from "../ui/toast.tsx";

const words: Record<keyof WrittenText, string> = { title: "title", text: "text", url: "link" };

interface WriteProps {
  /** Of the companion's sources. */
  path: string;
  onSaved(source: Source): void;
  onClose(): void;
}

export function WriteText({ path, onSaved, onClose }: WriteProps) {
  async function add(written: WrittenText): Promise<void> {
    onSaved(await call<Source>("POST", path, { body: { type: "text", ...written } }));
    say("Added. We're reading it.");
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
  if (loaded.data === null) return <LoadingDialog title="Edit text" of={loaded} onClose={rest.onClose} />;
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
      say("Saved. We're reading the new text.");
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

interface TextFormProps {
  /** Of the source; null for a new one. */
  path: string | null;
  /** What its owner wrote last; null for a new one. */
  kept: WrittenText | null;
  onSave(written: WrittenText): Promise<void>;
  onClose(): void;
}

type Fields = Record<keyof WrittenText, string>;

const shown = ["title", "text", "url"];

function toFields(kept: WrittenText | null): Fields {
  return { title: kept?.title ?? "", text: toEdited(kept?.text ?? ""), url: kept?.url ?? "" };
}

/** The dialog in which a text is written, or edited. */
function TextForm({ path, kept, onSave, onClose }: TextFormProps) {
  const [{ title, text, url }, setFields] = useState(() => toFields(kept));
  useLayoutEffect(() => setFields(toFields(kept)), [kept]);
  const change = (part: Partial<Fields>) => setFields((before) => ({ ...before, ...part }));
  const save = useAction(() =>
    onSave({ title: title.trim(), text: fromEdited(text, kept?.text ?? ""), url: toAddress(url) || null }),
  );
  return (
    <FormDialog
      title={path === null ? "Add text" : "Edit text"}
      action={path === null ? "Add" : "Save"}
      kept={kept}
      submit={save}
      isReady={title.trim() !== "" && text.trim() !== ""}
      fields={shown}
      isWide
      class="space-y-5"
      onClose={onClose}
    >
      <TextField
        label="Title"
        autofocus
        value={title}
        onValue={(title) => change({ title })}
        maxLength={200}
        placeholder="Shipping and returns"
        hint="Shown as the source name."
        error={fieldProblem(save.error, "title")}
      />
      <TextField
        label="Text"
        rows={12}
        value={text}
        onValue={(text) => change({ text })}
        placeholder={"# Returns\n\nYou may return what you bought within 30 days."}
        hint={
          path === null ? (
            "Plain text or Markdown. Headings help your companion find the right passage."
          ) : (
            <>
              The current version stays live until the new one is ready.{" "}
              <a href={`${path}/text`} download class="text-accent underline">
                Download the saved text
              </a>
            </>
          )
        }
        error={fieldProblem(save.error, "text")}
      />
      <TextField
        label="Link for visitors (optional)"
        type="url"
        isCode
        value={url}
        onValue={(url) => change({ url })}
        placeholder="https://"
        hint="Only linked, never fetched."
        error={fieldProblem(save.error, "url")}
      />
    </FormDialog>
  );
}

interface KeptText {
  source: Source;
  text: string;
}

/** As the API takes it. */
interface WrittenText {
  title: string;
  text: string;
  url: string | null;
}

function toWritten({ source: { title, url }, text }: KeptText): WrittenText {
  return { title, text, url };
}

/** In this order: the tag of the source is then never newer than the text. */
async function readKeptText(path: string, signal?: AbortSignal): Promise<KeptText> {
  const options = signal === undefined ? {} : { signal };
  const source = await call<Source>("GET", path, options);
  const response = await send("GET", `${path}/text`, options);
  // `text()` would leave out a byte order mark.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return { source, text: decoder.decode(await response.arrayBuffer()) };
}

/** As a text area has it. */
function toEdited(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** What is saved of `edited`: the text itself while it says the same, and otherwise with the line ends that all of it had. */
function fromEdited(edited: string, before: string): string {
  if (edited === toEdited(before)) return before;
  const hasOthers = /\r(?!\n)|(?<!\r)\n/.test(before);
  return before.includes("\n") && !hasOthers ? edited.replaceAll("\n", "\r\n") : edited;
}
