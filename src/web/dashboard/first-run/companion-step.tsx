/** The second step: a name, a colour and a greeting, and how a website will show them. */
import { useId, useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { avatarImage, defaultThemeColor } from "../lib/color.ts";
import { useAction } from "../lib/load.ts";
import { useLeaveGuard } from "../lib/router.ts";
import type { Companion } from "../lib/types.ts";
import { Button, ButtonLink } from "../ui/button.tsx";
import { Form, FormProblem, TextField } from "../ui/field.tsx";

const colors = [defaultThemeColor, "#0f766e", "#2563eb", "#be185d", "#b45309", "#1f2937"];
const colorNames = ["Indigo", "Teal", "Blue", "Pink", "Amber", "Graphite"];

export function CompanionStep({ companion, onMade }: { companion: Companion | null; onMade(): Promise<void> }) {
  return companion === null ? <NewCompanion onMade={onMade} /> : <MadeCompanion companion={companion} />;
}

function MadeCompanion({ companion: { id, name, theme_color, greeting } }: { companion: Companion }) {
  return (
    <div class="space-y-4">
      <Preview name={name} color={theme_color ?? defaultThemeColor} greeting={greeting ?? ""} />
      <ButtonLink href={`/app/companions/${id}`}>Change it</ButtonLink>
    </div>
  );
}

function NewCompanion({ onMade }: { onMade(): Promise<void> }) {
  const [name, setName] = useState("");
  const [greeting, setGreeting] = useState("");
  const [color, setColor] = useState(defaultThemeColor);
  const make = useAction(async () => {
    const body = { name: name.trim(), theme_color: color, ...(greeting.trim() === "" ? {} : { greeting }) };
    await call<Companion>("POST", "/api/companions", { body });
    await onMade();
  });
  useLeaveGuard((name !== "" || greeting !== "") && !make.isBusy);
  return (
    <div class="flex flex-wrap gap-6">
      <Form class="min-w-0 flex-1 basis-72 space-y-5" onSubmit={() => void make.run()}>
        <TextField
          label="Name"
          required
          maxLength={100}
          placeholder="Ada"
          value={name}
          onValue={setName}
          error={fieldProblem(make.error, "name")}
        />
        <ColorChoice value={color} onValue={setColor} />
        <TextField
          label="Greeting"
          aside="Optional"
          maxLength={1000}
          placeholder={greetingOf(name)}
          value={greeting}
          onValue={setGreeting}
          error={fieldProblem(make.error, "greeting")}
        />
        <FormProblem error={make.error} fields={["name", "greeting"]} />
        <Button type="submit" kind="primary" isBusy={make.isBusy} disabled={name.trim() === ""}>
          Create companion
        </Button>
      </Form>
      <Preview name={name} color={color} greeting={greeting} />
    </div>
  );
}

function ColorChoice({ value, onValue }: { value: string; onValue(value: string): void }) {
  const group = useId();
  return (
    <fieldset>
      <legend class="mb-1.5 font-medium">Colour</legend>
      <div class="flex flex-wrap items-center gap-2">
        {colors.map((color, at) => (
          <label key={color} class="relative" title={colorNames[at]}>
            <svg viewBox="0 0 36 36" aria-hidden="true" class="size-9">
              <circle cx="18" cy="18" r="13.5" fill={color} stroke="currentColor" stroke-opacity="0.2" />
              {value === color && (
                <circle cx="18" cy="18" r="17" fill="none" stroke="currentColor" stroke-width="2" class="text-accent" />
              )}
            </svg>
            <input
              type="radio"
              name={group}
              aria-label={colorNames[at]}
              checked={value === color}
              onChange={() => onValue(color)}
              class="absolute inset-0 appearance-none rounded-full"
            />
          </label>
        ))}
        <input
          type="color"
          aria-label="Another colour"
          title="Another colour"
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
          class="h-9 w-12 rounded-lg border border-line bg-card p-1"
        />
      </div>
    </fieldset>
  );
}

const greetingOf = (name: string) => `Hi, I'm ${name.trim() || "Ada"}. How can I help you?`;

/** As the panel's head and its first message. */
function Preview({ name, color, greeting }: { name: string; color: string; greeting: string }) {
  return (
    <figure aria-label="Preview" class="card min-w-0 flex-1 basis-60 self-start overflow-hidden">
      <div class="flex items-center gap-3 border-b border-line px-4 py-3">
        <img src={avatarImage(name.trim() || "Ada", color)} alt="" width={24} height={24} class="size-6 rounded-full" />
        <span dir="auto" class="min-w-0 truncate font-semibold">
          {name.trim() || "Ada"}
        </span>
      </div>
      <p dir="auto" class="p-4 text-pretty wrap-anywhere">
        {greeting.trim() || greetingOf(name)}
      </p>
    </figure>
  );
}
