/** The list of companions by what their metadata has: a chip with two fields, and a chip for each filter in the address. */
import { X } from "lucide-preact";
import { useState } from "preact/hooks";
import { replaceSearch } from "../lib/router.ts";
import { Button } from "../ui/button.tsx";
import { Chip, chip, chosen, Filters } from "../ui/chips.tsx";
import { TextField } from "../ui/field.tsx";

const prefix = "metadata.";

/** `filters`: as the address has them. */
export function MetadataFilter({ filters }: { filters: readonly (readonly [string, string])[] }) {
  const [field, setField] = useState("");
  const [value, setValue] = useState("");
  const isReady = field.trim() !== "" && value !== "";
  return (
    <Filters>
      <Chip label="Metadata" isChosen={false}>
        <form
          class="grid gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (!isReady) return;
            replaceSearch({ [`${prefix}${field.trim()}`]: value });
            setField("");
            setValue("");
          }}
        >
          <TextField label="Field" value={field} onValue={setField} placeholder="plan or shop.id" />
          <TextField label="Value" value={value} onValue={setValue} />
          <Button type="submit" disabled={!isReady}>
            Filter
          </Button>
        </form>
      </Chip>
      {filters.map(([name, value]) => (
        <button
          key={name}
          type="button"
          onClick={() => replaceSearch({ [name]: null })}
          aria-label={`Remove the filter ${name} = ${value}`}
          class={`${chip} ${chosen} max-w-full`}
        >
          <span dir="auto" class="truncate">
            {name.slice(prefix.length)} = {value}
          </span>
          <X size={14} aria-hidden="true" class="shrink-0" />
        </button>
      ))}
    </Filters>
  );
}
