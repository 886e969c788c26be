/** The dialog with what was read of a source, as it was cut into passages. */
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { Source, SourcePassage, SourcePassages } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Pending } from "../ui/states.tsx";
import { PassageText } from "./passage-text.tsx";
import { countOf } from "./source-words.ts";

interface PassagesDialogProps {
  /** Of the companion's sources. */
  path: string;
  source: Source;
  onClose(): void;
}

export function PassagesDialog({ path, source, onClose }: PassagesDialogProps) {
  const [passages, setPassages] = useState<readonly SourcePassage[] | null>(null);
  const [next, setNext] = useState<number | null>(0);
  const load = useAction(async () => {
    const page = await call<SourcePassages>("GET", `${path}/${source.id}/passages`, { query: { first: next } });
    setPassages((before) => [...(before ?? []), ...page.data]);
    setNext(page.next_first);
  });
  const begin = useRef(load.run);
  useEffect(() => void begin.current(), []);
  return (
    <Dialog title={source.title} onClose={onClose} isWide>
      {passages !== null && (
        <>
          <p class="mb-4 text-pretty text-muted">
            {passages.length === 0
              ? "Nothing of it answers now. Once it is ready, its passages are here."
              : `${countOf(source.chunks, "passage")}, as they are found and given to the model.`}
          </p>
          <ol class="space-y-3" aria-label="Passages">
            {passages.map((passage) => (
              <li key={passage.ordinal}>
                <PassageText passage={passage} sourceTitle={source.title} sourceUrl={source.url} />
              </li>
            ))}
          </ol>
        </>
      )}
      {(passages === null || load.error !== null) && <Pending of={{ error: load.error, reload: load.run }} />}
      {passages !== null && load.error === null && next !== null && (
        <div class="mt-4 flex justify-center">
          <Button isBusy={load.isBusy} onClick={() => void load.run()}>
            Load more
          </Button>
        </div>
      )}
    </Dialog>
  );
}
