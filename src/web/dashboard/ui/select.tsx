/** Choosing one of several, all of one kind of list. */
import { ChevronDown } from "lucide-preact";
import type { JSX } from "preact";
import { Field, type FieldProps } from "./field.tsx";

interface Choice {
  value: string;
  onValue(value: string): void;
  options: readonly { value: string; label: string }[];
  disabled?: boolean;
}

type SelectAttributes = Pick<
  JSX.IntrinsicElements["select"],
  "id" | "aria-label" | "aria-describedby" | "aria-invalid"
>;

/** The classes are of the frame, whose width the list has. */
export function Select(props: Choice & SelectAttributes & { class?: string }) {
  const { onValue, options, class: more = "", ...attributes } = props;
  return (
    <span class={`relative block min-w-0 ${more}`}>
      <select
        {...attributes}
        onChange={({ currentTarget }) => onValue(currentTarget.value)}
        class="control appearance-none truncate pr-8"
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <ChevronDown
        size={14}
        aria-hidden="true"
        class="pointer-events-none absolute inset-y-0 my-auto right-3 text-muted"
      />
    </span>
  );
}

export function SelectField({ value, onValue, options, disabled = false, ...field }: Choice & FieldProps) {
  return <Field {...field}>{(wiring) => <Select {...wiring} {...{ value, onValue, options, disabled }} />}</Field>;
}
