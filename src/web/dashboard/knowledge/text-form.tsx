/** The dialog in which a text is written, or edited. */
import { useLayoutEffect, useState } from "preact/hooks";
import { ApiError, fieldProblem } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { fromEdited, toEdited, type WrittenText } from "./kept-text.ts";
import { toAddress } from "./source-words.ts";

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

export function TextForm({ path, kept, onSave, onClose }: TextFormProps) {
  const [{ title, text, url }, setFields] = useState(() => toFields(kept));
  useLayoutEffect(() => setFields(toFields(kept)), [kept]);
  const change = (part: Partial<Fields>) => setFields((before) => ({ ...before, ...part }));
  const save = useAction(() =>
    onSave({ title: title.trim(), text: fromEdited(text, kept?.text ?? ""), url: toAddress(url) || null }),
  );
  const sent = save.error instanceof ApiError ? save.error.fields : [];
  return (
    <FormDialog
      title={path === null ? "Write a text" : "Edit the text"}
      action={path === null ? "Add" : "Save"}
      kept={kept}
      submit={save}
      isReady={title.trim() !== "" && text.trim() !== ""}
      isTold={sent.length > 0 && sent.every(({ param }) => shown.includes(param))}
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
        hint="Replies name it as their source."
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
            "Plain text or Markdown. With headings, passages are found and named better."
          ) : (
            <>
              As it was written. What was read of it before answers until this is ready.{" "}
              <a href={`${path}/text`} download class="text-accent underline">
                Download what is saved
              </a>
            </>
          )
        }
        error={fieldProblem(save.error, "text")}
      />
      <TextField
        label="Where visitors find it"
        type="url"
        isCode
        value={url}
        onValue={(url) => change({ url })}
        placeholder="https://"
        hint="Optional: replies link to it. It is not read."
        error={fieldProblem(save.error, "url")}
      />
    </FormDialog>
  );
}
