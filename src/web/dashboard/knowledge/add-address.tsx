/** Adds the address of a page, or of a sitemap with all its pages. */
import { Plus } from "lucide-preact";
import { useRef, useState } from "preact/hooks";
import { call, fieldProblem, toSentence } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { Source } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { CheckField, Form, SelectField, TextField } from "../ui/field.tsx";
import { Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { looksLikeSitemap, refreshChoices, toAddress } from "./source-words.ts";

export function AddAddress({ path, onAdded }: { path: string; onAdded(source: Source): void }) {
  const [typed, setTyped] = useState("");
  // Null: as the address looks.
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
    say(isSitemap ? "Added: its pages are being read." : "Added: it is being read.");
    form.current?.querySelector("input")?.focus();
  });
  const problem = fieldProblem(add.error, "url");
  return (
    <div ref={form}>
      <Form noValidate class="space-y-3" onSubmit={() => typed.trim() !== "" && void add.run()}>
        <div class="flex flex-wrap items-end gap-2">
          <TextField
            label="Address of a page or sitemap"
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
        {add.error !== null && <Problem>{problem ?? toSentence(add.error)}</Problem>}
        {typed.trim() !== "" && (
          <div class="grid gap-5 sm:grid-cols-2">
            <CheckField
              label="It is a sitemap"
              hint="Reads all pages that it names, up to 500, each under its own address."
              checked={isSitemap}
              onChecked={setChosen}
            />
            <SelectField label="Read it again" options={refreshChoices} value={hours} onValue={setHours} />
          </div>
        )}
      </Form>
    </div>
  );
}
