/** The theme colour: picked or typed, with a note on whether it is visible. */
import { contrast, defaultThemeColor, isColor, textColorOn } from "../lib/color.ts";
import { Field } from "../ui/field.tsx";

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
            class="h-[2.4rem] w-12 shrink-0 rounded-[0.6rem] border border-edge bg-card p-1"
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

/** A sentence for owners, and whether it is a warning. */
function judgeColor(color: string): { text: string; isWarning: boolean } | null {
  if (!isColor(color)) return null;
  const textColor = textColorOn(color);
  const ratio = contrast(color, textColor).toFixed(1);
  if (contrast(color, "#ffffff") < 1.6) {
    return { text: "Hardly visible on a white page: choose something darker.", isWarning: true };
  }
  if (contrast(color, "#000000") < 1.6) {
    return { text: "Hardly visible on a dark page: choose something lighter.", isWarning: true };
  }
  const name = textColor === "#ffffff" ? "White" : "Black";
  return { text: `${name} text on it reads well (contrast ${ratio}:1).`, isWarning: false };
}
