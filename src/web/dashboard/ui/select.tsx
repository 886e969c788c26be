/** Choosing one of several, all of one kind of list. */
import { ChevronDown } from "lucide-preact";
import type { JSX } from "preact";
import { Field, type FieldProps } from "./field.tsx";

/** The classes are of the frame, whose width the list has. */
export function Select({ class: more = "", ...attributes }: JSX.IntrinsicElements["select"] & { class?: string }) {
  return (
    <span class={`relative block min-w-0 ${more}`}>
      <select {...attributes} class="control appearance-none truncate pr-8" />
      <ChevronDown
        size={14}
        aria-hidden="true"
        class="pointer-events-none absolute inset-y-0 my-auto right-3 text-muted"
      />
    </span>
  );
}

interface SelectProps extends FieldProps {
  value: string;
  onValue(value: string): void;
  options: readonly { value: string; label: string }[];
  disabled?: boolean;
}

export function SelectField({ value, onValue, options, disabled, ...field }: SelectProps) {
  return (
    <Field {...field}>
      {(wiring) => (
        <Select {...wiring} value={value} disabled={disabled} onChange={(event) => onValue(event.currentTarget.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
