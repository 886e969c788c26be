/** A choice of a few, all of them in sight. */

interface SegmentsProps<Value extends string> {
  /** For screen readers. */
  label: string;
  value: Value;
  onValue(value: Value): void;
  options: Readonly<Record<Value, string>>;
}

export function Segments<Value extends string>({ label, value, onValue, options }: SegmentsProps<Value>) {
  return (
    <fieldset aria-label={label} class="inline-flex rounded-lg border border-line bg-sunken p-0.5">
      {(Object.entries(options) as [Value, string][]).map(([each, name]) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === value}
          onClick={() => onValue(each)}
          class={`min-h-8 rounded-md px-3 text-13 ${each === value ? "bg-card font-medium [box-shadow:0_1px_2px_#0002]" : "text-muted hover:text-ink"}`}
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
}
