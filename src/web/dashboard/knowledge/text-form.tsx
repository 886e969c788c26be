/** The dialog that adds a text, or replaces one. */
import { useState } from "preact/hooks";
import { ApiError, call, fieldProblem } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { Source, SourcePassage } from "../lib/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { say } from "../ui/toast.tsx";
import { toAddress } from "./source-words.ts";

interface TextFormProps {
  /** Of the companion's sources. */
  path: string;
  /** Null for a new one. */
  source: Source | null;
  /** All of the one that is replaced, if they are few: what to begin with. */
  passages: readonly SourcePassage[] | null;
  onSaved(source: Source): void;
  onClose(): void;
}

const shown = ["title", "text", "url"];

export function TextForm({ path, source, passages, onSaved, onClose }: TextFormProps) {
  const before = passages?.map(({ text }) => text).join("\n\n") ?? "";
  const [title, setTitle] = useState(source?.title ?? "");
  const [text, setText] = useState(before);
  const [url, setUrl] = useState(source?.url ?? "");
  const save = useAction(async () => {
    const body = { type: "text", title: title.trim(), text, url: toAddress(url) || null };
    const saved = await (source === null
      ? call<Source>("POST", path, { body })
      : call<Source>("PUT", `${path}/${source.id}`, { body }));
    onSaved(saved);
    say(source === null ? "Added: it is being read." : "Replaced: the new text is being read.");
    onClose();
  });
  const sent = save.error instanceof ApiError ? save.error.fields : [];
  return (
    <FormDialog
      title={source === null ? "Write a text" : "Replace the text"}
      action={source === null ? "Add" : "Replace"}
      submit={save}
      isReady={title.trim() !== "" && text.trim() !== ""}
      isTold={sent.length > 0 && sent.every(({ param }) => shown.includes(param))}
      isWide
      // What was typed is not lost by a key.
      isSticky={text !== before}
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
          source !== null && before !== ""
            ? "As it was read. The old text answers until the new one is ready."
            : "Plain text or Markdown. With headings, passages are found and named better."
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
