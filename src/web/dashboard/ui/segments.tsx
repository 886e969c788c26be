/** A choice of a few, all of them in sight. */
import type { ComponentChildren } from "preact";

interface SegmentsProps<Value extends string> {
  /** For screen readers. */
  label: string;
  value: Value;
  onValue(value: Value): void;
  options: Readonly<Partial<Record<Value, ComponentChildren>>>;
  /** Of the others, whether they are out of reach. */
  isDisabled?: boolean;
  class?: string;
}

export function Segments<Value extends string>(props: SegmentsProps<Value>) {
  const { label, value, onValue, options, isDisabled = false, class: more = "" } = props;
  return (
    <fieldset aria-label={label} class={`segments ${more}`}>
      {(Object.entries(options) as [Value, ComponentChildren][]).map(([each, name]) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === value}
          disabled={isDisabled && each !== value}
          onClick={() => each !== value && onValue(each)}
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
}
