/** Adds to what a companion reads: files, the address of a page or a sitemap, or a text. */
import { FileText, Plus } from "lucide-preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { toAddress } from "../lib/address.ts";
import { call } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { Source } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { CheckField, Form, TextField } from "../ui/field.tsx";
import { Section } from "../ui/page.tsx";
import { SelectField } from "../ui/select.tsx";
import { Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { WriteText } from "./edit-text.tsx";
import { FileButton } from "./file-button.tsx";
import { kindsSentence, looksLikeSitemap, refreshChoices } from "./source-words.ts";
import { UploadList, type Uploads } from "./uploads.tsx";

interface AddSourcesProps {
  /** Of the companion's sources. */
  path: string;
  uploads: Uploads;
  onAdded(source: Source): void;
}

export function AddSources({ path, uploads, onAdded }: AddSourcesProps) {
  const isOver = useDroppedFiles(uploads.add);
  const [isWriting, setIsWriting] = useState(false);
  return (
    <Section
      title="Add knowledge"
      hint="We read it in the background. Your companion uses it as soon as it's ready."
      actions={
        <Button icon={FileText} onClick={() => setIsWriting(true)}>
          Add text…
        </Button>
      }
    >
      <div class="space-y-5">
        <AddAddress path={path} onAdded={onAdded} />
        <div
          class={`rounded-lg border border-dashed px-4 py-8 text-center ${isOver ? "border-accent bg-tint" : "border-edge"}`}
        >
          <p class="font-medium">{isOver ? "Drop them here" : "Drop files anywhere on this page"}</p>
          <p class="mt-0.5 mb-4 text-13 text-pretty text-muted">{kindsSentence}</p>
          <FileButton label="Choose files…" multiple onFiles={uploads.add} />
        </div>
        <UploadList uploads={uploads} />
      </div>
      {isWriting && <WriteText path={path} onSaved={onAdded} onClose={() => setIsWriting(false)} />}
    </Section>
  );
}

/** Adds the address of a page, or of a sitemap with all its pages. */
function AddAddress({ path, onAdded }: { path: string; onAdded(source: Source): void }) {
  const [typed, setTyped] = useState("");
  // Null: guessed from the address.
  const [chosen, setChosen] = useState<boolean | null>(null);
  const [hours, setHours] = useState("");
  const form = useRef<HTMLDivElement>(null);
  const isSitemap = chosen ?? looksLikeSitemap(typed);
  const add = useAction(async () => {
    const body = {
      type: isSitemap ? "sitemap" : "url",
      url: toAddress(typed),
      refresh_hours: hours === "" ? null : Number(hours),
    };
    onAdded(await call<Source>("POST", path, { body }));
    // The next one may have been typed meanwhile.
    setTyped((now) => (now === typed ? "" : now));
    setChosen((now) => (now === chosen ? null : now));
    say(isSitemap ? "Added. We're reading its pages." : "Added. We're reading it.");
    form.current?.querySelector("input")?.focus();
  });
  return (
    <div ref={form}>
      <Form noValidate class="space-y-3" onSubmit={() => typed.trim() !== "" && void add.run()}>
        <div class="flex flex-wrap items-end gap-2">
          <TextField
            label="URL of a page or sitemap"
            type="url"
            isCode
            class="flex-1 basis-56"
            value={typed}
            onValue={(value) => {
              setTyped(value);
              add.clear();
            }}
            placeholder="https://www.example.com/sitemap.xml"
          />
          <Button type="submit" kind="primary" icon={Plus} disabled={typed.trim() === ""} isBusy={add.isBusy}>
            Add
          </Button>
        </div>
        <Problem error={add.error} field="url" />
        {typed.trim() !== "" && (
          <div class="grid gap-5 sm:grid-cols-2">
            <CheckField
              label="This is a sitemap"
              hint="Adds every page in it, up to 500."
              checked={isSitemap}
              onChecked={setChosen}
            />
            <SelectField label="Refresh" options={refreshChoices} value={hours} onValue={setHours} />
          </div>
        )}
      </Form>
    </div>
  );
}

/** Files that are dropped anywhere on the page. Whether files are held over the page now. */
function useDroppedFiles(onFiles: (files: readonly File[]) => void): boolean {
  const [isOver, setIsOver] = useState(false);
  const act = useRef(onFiles);
  act.current = onFiles;
  useEffect(() => {
    const holdsFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") ?? false;
    // A dialog has its own fields for files.
    const isElsewhere = () => document.querySelector("dialog[open]") !== null;
    const onDragOver = (event: DragEvent) => {
      if (!holdsFiles(event) || isElsewhere()) return;
      // Otherwise the browser would open the file instead of the page.
      event.preventDefault();
      setIsOver(true);
    };
    const onDragLeave = ({ relatedTarget }: DragEvent) => {
      if (relatedTarget === null) setIsOver(false);
    };
    const onDrop = (event: DragEvent) => {
      setIsOver(false);
      if (!holdsFiles(event) || isElsewhere()) return;
      event.preventDefault();
      act.current(filesOf(event));
    };
    const listeners = { dragover: onDragOver, dragleave: onDragLeave, drop: onDrop };
    const all = Object.entries(listeners) as [string, EventListener][];
    for (const [name, listener] of all) window.addEventListener(name, listener);
    return () => {
      for (const [name, listener] of all) window.removeEventListener(name, listener);
    };
  }, []);
  return isOver;
}

/** Without folders, which browsers hand over as files that cannot be read. */
function filesOf({ dataTransfer }: DragEvent): File[] {
  const items = [...(dataTransfer?.items ?? [])].filter(({ kind }) => kind === "file");
  const files = items.filter((item) => !item.webkitGetAsEntry?.()?.isDirectory).map((item) => item.getAsFile());
  return files.filter((file) => file !== null);
}
