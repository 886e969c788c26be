/** Greetings for pages in other languages than the companion's own. */
import { Plus, X } from "lucide-preact";
import { useId } from "preact/hooks";
import { Button, IconButton } from "../ui/button.tsx";
import { FieldError } from "../ui/field.tsx";
import type { AppearanceDraft } from "./appearance-draft.ts";

/** Those that the widget speaks; any other tag can be typed. */
const languages = "ar de en es fr he it ja nl pl pt tr uk zh".split(" ");
const names = new Intl.DisplayNames("en", { type: "language" });

interface GreetingsFieldProps {
  greetings: AppearanceDraft["greetings"];
  error: string | undefined;
  onGreetings(greetings: AppearanceDraft["greetings"]): void;
}

export function GreetingsField({ greetings, error, onGreetings }: GreetingsFieldProps) {
  const id = useId();
  const change = (at: number, part: Partial<(typeof greetings)[number]>) =>
    onGreetings(greetings.map((each, index) => (index === at ? { ...each, ...part } : each)));
  const next = languages.find((tag) => greetings.every((each) => each.tag !== tag)) ?? "";
  return (
    <fieldset>
      <legend class="font-medium">Greetings in other languages</legend>
      <p class="mt-0.5 mb-2 text-13 text-muted">
        Shown on pages in that language, instead of the greeting in the settings.
      </p>
      <datalist id={id}>
        {languages.map((tag) => (
          <option key={tag} value={tag}>
            {names.of(tag)}
          </option>
        ))}
      </datalist>
      <ul class="space-y-2">
        {greetings.map(({ tag, text }, at) => (
          <li key={at} class="flex items-start gap-2">
            <input
              aria-label={`Language of greeting ${at + 1}`}
              aria-invalid={error === undefined ? undefined : true}
              list={id}
              value={tag}
              spellcheck={false}
              autocomplete="off"
              onInput={({ currentTarget: { value } }) => change(at, { tag: value })}
              class="control w-20 shrink-0 font-mono text-13"
            />
            <input
              aria-label={`Greeting ${at + 1}`}
              dir="auto"
              value={text}
              placeholder="Hallo! Wie kann ich helfen?"
              onInput={({ currentTarget: { value } }) => change(at, { text: value })}
              class="control min-w-0 flex-1"
            />
            <IconButton
              label={`Remove greeting ${at + 1}`}
              icon={X}
              size={16}
              onClick={() => onGreetings(greetings.filter((_, index) => index !== at))}
            />
          </li>
        ))}
      </ul>
      <FieldError error={error} />
      {greetings.length < 40 && (
        <Button kind="ghost" icon={Plus} onClick={() => onGreetings([...greetings, { tag: next, text: "" }])}>
          Add a language
        </Button>
      )}
    </fieldset>
  );
}
