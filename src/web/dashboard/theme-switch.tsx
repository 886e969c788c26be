/** Light, dark, or as the system is. */
import { Monitor, Moon, Sun } from "lucide-preact";
import { use } from "./lib/state.ts";
import { type Theme, theme } from "./lib/theme.ts";
import { IconButton } from "./ui/button.tsx";

const themes: readonly { value: Theme; label: string; Icon: typeof Sun }[] = [
  { value: "light", label: "Light", Icon: Sun },
  { value: "dark", label: "Dark", Icon: Moon },
  { value: "system", label: "As the system", Icon: Monitor },
];

export function ThemeSwitch() {
  const chosen = use(theme);
  return (
    <fieldset class="flex">
      <legend class="sr-only">Colours</legend>
      {themes.map(({ value, label, Icon }) => (
        <IconButton
          key={value}
          label={label}
          aria-pressed={chosen === value}
          onClick={() => {
            theme.value = value;
          }}
          class={chosen === value ? "bg-sunken text-ink" : ""}
        >
          <Icon size={17} aria-hidden="true" />
        </IconButton>
      ))}
    </fieldset>
  );
}
