/** The dialog that adds a text, or replaces one. */
import { useState } from "preact/hooks";
import { ApiError, call, fieldProblem } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { Source } from "../lib/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { say } from "../ui/toast.tsx";
import { toAddress } from "./source-words.ts";

interface TextFormProps {
  /** Of the companion's sources. */
  path: string;
  /** Null for a new one. */
  source: Source | null;
  /** What its owner wrote last; empty for a new one. */
  before: string;
  onSaved(source: Source): void;
  onClose(): void;
}

const shown = ["title", "text", "url"];

export function TextForm({ path, source, before, onSaved, onClose }: TextFormProps) {
  const [title, setTitle] = useState(source?.title ?? "");
  const [text, setText] = useState(before);
  const [url, setUrl] = useState(source?.url ?? "");
  const save = useAction(async () => {
    const body = { type: "text", title: title.trim(), text, url: toAddress(url) || null };
    const saved = await (source === null
      ? call<Source>("POST", path, { body })
      : call<Source>("PUT", `${path}/${source.id}`, { body }));
    onSaved(saved);
    say(source === null ? "Added: it is being read." : "Saved: the new text is being read.");
    onClose();
  });
  const sent = save.error instanceof ApiError ? save.error.fields : [];
  return (
    <FormDialog
      title={source === null ? "Write a text" : "Edit the text"}
      action={source === null ? "Add" : "Save"}
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
        onValue={setTitle}
        maxLength={200}
        placeholder="Shipping and returns"
        hint="Replies name it as their source."
        error={fieldProblem(save.error, "title")}
      />
      <TextField
        label="Text"
        rows={12}
        value={text}
        onValue={setText}
        placeholder={"# Returns\n\nYou may return what you bought within 30 days."}
        hint={
          source === null ? (
            "Plain text or Markdown. With headings, passages are found and named better."
          ) : (
            <>
              As it was written. What was read of it before answers until this is ready.{" "}
              <a href={`${path}/${source.id}/text`} download class="text-accent underline">
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
        onValue={setUrl}
        placeholder="https://"
        hint="Optional: replies link to it. It is not read."
        error={fieldProblem(save.error, "url")}
      />
    </FormDialog>
  );
}
