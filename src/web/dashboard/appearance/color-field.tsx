/** The theme colour: picked or typed, with a note on whether it is visible. */
import { defaultThemeColor } from "../lib/color.ts";
import { Field } from "../ui/field.tsx";
import { judgeColor } from "./appearance-draft.ts";

interface ColorFieldProps {
  value: string;
  /** The colour that results from the value. */
  shown: string;
  onValue(value: string): void;
  error: string | undefined;
}

export function ColorField({ value, shown, onValue, error }: ColorFieldProps) {
  const judgement = judgeColor(shown);
  const hint = <span class={judgement?.isWarning ? "text-warn" : ""}>{judgement?.text}</span>;
  return (
    <Field label="Colour" error={error} hint={hint}>
      {(wiring) => (
        <div class="flex gap-2">
          <input
            type="color"
            aria-label="Pick a colour"
            value={shown}
            onInput={(event) => onValue(event.currentTarget.value)}
            class="h-9 w-12 shrink-0 rounded-lg border border-edge bg-card p-1"
          />
          <input
            {...wiring}
            type="text"
            dir="ltr"
            spellcheck={false}
            autocomplete="off"
            value={value}
            placeholder={defaultThemeColor}
            onInput={(event) => onValue(event.currentTarget.value.trim())}
            class="control font-mono text-[0.92em]"
          />
        </div>
      )}
    </Field>
  );
}
