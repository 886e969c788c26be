/** Adds to what a companion reads: files, the address of a page or a sitemap, or a text. */
import { FileText } from "lucide-preact";
import { useState } from "preact/hooks";
import type { Source } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Section } from "../ui/page.tsx";
import { AddAddress } from "./add-address.tsx";
import { useDroppedFiles } from "./drop-files.ts";
import { WriteText } from "./edit-text.tsx";
import { FileButton } from "./file-button.tsx";
import { kindsSentence } from "./file-kinds.ts";
import { UploadList } from "./upload-list.tsx";
import type { Uploads } from "./use-uploads.ts";

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
      hint="It is read in the background, and answers as soon as it is ready."
      actions={
        <Button icon={FileText} onClick={() => setIsWriting(true)}>
          Write a text…
        </Button>
      }
    >
      <div class="space-y-5">
        <AddAddress path={path} onAdded={onAdded} />
        <div class={`rounded-xl border px-4 py-6 text-center ${isOver ? "border-accent bg-tint" : "border-edge"}`}>
          <p class="font-medium">{isOver ? "Drop them here" : "Drop files anywhere on this page"}</p>
          <p class="mt-0.5 mb-4 text-[0.88rem] text-pretty text-muted">{kindsSentence}</p>
          <FileButton label="Choose files…" multiple onFiles={uploads.add} />
        </div>
        <UploadList uploads={uploads} />
      </div>
      {isWriting && <WriteText path={path} onSaved={onAdded} onClose={() => setIsWriting(false)} />}
    </Section>
  );
}
