/** The third step: one address to read, and how the reading goes. */
import { Plus } from "lucide-preact";
import { useEffect, useState } from "preact/hooks";
import { describeState, findRemedy, looksLikeSitemap } from "../knowledge/source-words.ts";
import { useSources } from "../knowledge/use-sources.ts";
import { toAddress } from "../lib/address.ts";
import { call } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { Source } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Form, TextField } from "../ui/field.tsx";
import { Badge, Pending, Problem } from "../ui/states.tsx";

interface KnowledgeStepProps {
  companionId: string;
  onAdded(): void;
  onContinue(): void;
}

export function KnowledgeStep({ companionId, onAdded, onContinue }: KnowledgeStepProps) {
  const sources = useSources(companionId);
  const [typed, setTyped] = useState("");
  const add = useAction(async () => {
    const url = toAddress(typed);
    const body = { type: looksLikeSitemap(url) ? "sitemap" : "url", url };
    sources.put(await call<Source>("POST", `/api/companions/${companionId}/sources`, { body }));
    setTyped("");
  });
  const count = sources.items?.length ?? 0;
  const isAdded = sources.items?.some(({ status }) => status !== "failed") ?? false;
  useEffect(() => {
    if (count > 0) onAdded();
  }, [count]);
  return (
    <div class="space-y-4">
      <p class="text-pretty text-muted">
        Add a page or sitemap of your website. Your companion answers from it and cites it.
      </p>
      <Form noValidate class="flex flex-wrap items-end gap-2" onSubmit={() => typed.trim() !== "" && void add.run()}>
        <TextField
          label="Page or sitemap URL"
          type="url"
          isCode
          class="flex-1 basis-64"
          placeholder="https://www.example.com/sitemap.xml"
          value={typed}
          onValue={(value) => {
            setTyped(value);
            add.clear();
          }}
        />
        <Button type="submit" kind="primary" icon={Plus} disabled={typed.trim() === ""} isBusy={add.isBusy}>
          Add
        </Button>
      </Form>
      <Problem error={add.error} field="url" />
      <p class="sr-only" role="status">
        {sources.news}
      </p>
      {sources.items === null ? (
        <Pending of={sources} lines={1} />
      ) : (
        <ul>
          {sources.items.slice(0, 5).map((source) => (
            <SourceLine key={source.id} source={source} />
          ))}
        </ul>
      )}
      <div class="flex flex-wrap items-center gap-x-6 gap-y-3">
        <Button kind={isAdded ? "primary" : "secondary"} onClick={onContinue}>
          {isAdded ? "Continue" : "Skip for now"}
        </Button>
        <a href={`/app/companions/${companionId}/knowledge`} class="text-accent underline">
          Upload files or add text
        </a>
      </div>
    </div>
  );
}

function SourceLine({ source }: { source: Source }) {
  const { label, tone } = describeState(source);
  return (
    <li class="py-2.5">
      <div class="flex items-center justify-between gap-4">
        <span dir="auto" class="min-w-0 truncate">
          {source.title}
        </span>
        <Badge tone={tone}>{label}</Badge>
      </div>
      {source.error !== null && (
        <p class="mt-1 text-13 text-pretty text-bad wrap-anywhere">
          {source.error} {findRemedy(source)}
        </p>
      )}
    </li>
  );
}
