/** What a list is searched with, as it is typed. */
import { Search } from "lucide-preact";
import type { TextFieldProps } from "./field.tsx";

type SearchProps = Pick<TextFieldProps, "label" | "placeholder" | "value" | "onValue" | "maxLength" | "class">;

/** `data-key`: the key that puts the cursor here. */
export function SearchField(props: SearchProps & { "data-key"?: string }) {
  const { label, placeholder = label, onValue, class: more = "", ...rest } = props;
  return (
    <div class={`relative ${more}`}>
      <Search size={17} aria-hidden="true" class="absolute inset-y-0 my-auto left-3 text-muted" />
      <input
        {...rest}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        class="control pl-9"
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
    </div>
  );
}
