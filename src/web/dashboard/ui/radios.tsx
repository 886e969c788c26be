/** A choice of one, with a sentence about each. */
import { useId } from "preact/hooks";

interface RadiosProps<Value extends string> {
  label: string;
  /** What stands around it shows the label already. */
  isLabelHidden?: boolean;
  value: Value;
  onValue(value: Value): void;
  options: readonly { value: Value; label: string; hint: string }[];
}

export function Radios<Value extends string>({ label, isLabelHidden, value, onValue, options }: RadiosProps<Value>) {
  const id = useId();
  return (
    <fieldset class="space-y-3">
      <legend class={isLabelHidden ? "sr-only" : "mb-2 font-medium"}>{label}</legend>
      {options.map((option) => (
        <div key={option.value} class="flex items-start gap-2.5">
          <input
            id={`${id}-${option.value}`}
            type="radio"
            name={id}
            checked={value === option.value}
            aria-describedby={`${id}-${option.value}-hint`}
            onChange={() => onValue(option.value)}
            class="mt-0.5 size-4 shrink-0 accent-accent"
          />
          <div class="min-w-0 flex-1">
            <label for={`${id}-${option.value}`}>{option.label}</label>
            <p id={`${id}-${option.value}-hint`} class="text-13 text-pretty text-muted">
              {option.hint}
            </p>
          </div>
        </div>
      ))}
    </fieldset>
  );
}
