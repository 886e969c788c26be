/** The dialog that gives a source new content: a text, a file, or another address. */
import { useState } from "preact/hooks";
import { toAddress } from "../lib/address.ts";
import { call, fieldProblem } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { Source } from "../lib/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { FieldError, TextField } from "../ui/field.tsx";
import { SelectField } from "../ui/select.tsx";
import { say } from "../ui/toast.tsx";
import { EditText } from "./edit-text.tsx";
import { FileButton } from "./file-button.tsx";
import { findFileProblem, kindsSentence, refreshChoicesWith } from "./source-words.ts";
import { ProgressBar, upload } from "./uploads.tsx";

interface ReplaceProps {
  /** Of the companion's sources. */
  path: string;
  source: Source;
  onSaved(source: Source): void;
  onClose(): void;
}

export function ReplaceSource(props: ReplaceProps) {
  if (props.source.type === "text") return <EditText {...props} />;
  return props.source.type === "file" ? <ReplaceFile {...props} /> : <ChangeAddress {...props} />;
}

function ReplaceFile({ path, source, onSaved, onClose }: ReplaceProps) {
  const [file, setFile] = useState<File | null>(null);
  const [title, setTitle] = useState(source.title);
  const [share, setShare] = useState(0);
  const problem = file && findFileProblem(file);
  const save = useAction(async () => {
    const form = new FormData();
    form.set("title", title.trim());
    if (source.url !== null) form.set("url", source.url);
    if (file !== null) form.set("file", file);
    onSaved(await upload<Source>("PUT", `${path}/${source.id}`, form, setShare));
    say("Replaced. We're reading the new file.");
    onClose();
  });
  function choose([chosen]: readonly File[]): void {
    if (chosen === undefined) return;
    // A file that kept its name as its title is known by the new one's.
    if (/\.\w+$/.test(title) && title === (file?.name ?? source.title)) setTitle(chosen.name);
    setFile(chosen);
  }
  return (
    <FormDialog
      title="Replace file"
      action="Replace"
      submit={save}
      isReady={file !== null && problem === null && title.trim() !== ""}
      class="space-y-5"
      onClose={onClose}
    >
      <div>
        <div class="flex flex-wrap items-center gap-3">
          <FileButton label="Choose a file…" onFiles={choose} />
          <p role="status" class="min-w-0 wrap-anywhere" dir="auto">
            {file?.name ?? "No file chosen"}
          </p>
        </div>
        <FieldError error={problem ?? undefined} />
        <p class="mt-1.5 text-13 text-muted">
          {kindsSentence} The current version stays live until the new one is ready.
        </p>
      </div>
      <TextField
        label="Title"
        value={title}
        onValue={setTitle}
        maxLength={200}
        hint="Shown as the source name."
        error={fieldProblem(save.error, "title")}
      />
      {save.isBusy && <ProgressBar label="Sending the file" share={share} />}
    </FormDialog>
  );
}

function ChangeAddress({ path, source, onSaved, onClose }: ReplaceProps) {
  const kept = String(source.refresh_hours ?? "");
  const [url, setUrl] = useState(source.url ?? "");
  const [hours, setHours] = useState(kept);
  const save = useAction(async () => {
    const refresh_hours = hours === "" ? null : Number(hours);
    const body = { type: source.type, url: toAddress(url), refresh_hours };
    onSaved(await call<Source>("PUT", `${path}/${source.id}`, { body }));
    say("Saved. We're reading it again.");
    onClose();
  });
  return (
    <FormDialog
      title={source.type === "sitemap" ? "Edit sitemap" : "Edit page"}
      action="Save and refresh"
      submit={save}
      isReady={url.trim() !== ""}
      fields={["url"]}
      class="space-y-5"
      onClose={onClose}
    >
      <TextField
        label="URL"
        type="url"
        isCode
        value={url}
        onValue={setUrl}
        hint="The current version stays live until the new one is ready."
        error={fieldProblem(save.error, "url")}
      />
      <SelectField label="Refresh" options={refreshChoicesWith(kept)} value={hours} onValue={setHours} />
    </FormDialog>
  );
}
