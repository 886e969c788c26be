/** A password field that can show its text. */
import { Eye, EyeOff } from "lucide-preact";
import { useState } from "preact/hooks";
import { Field } from "./field.tsx";

interface PasswordProps {
  label: string;
  value: string;
  onValue(value: string): void;
  /** For a new password: password managers then offer to generate one. */
  isNew?: boolean;
  autofocus?: boolean;
  error?: string | undefined;
}

const shortestPassword = 10;

export function PasswordField({ label, value, onValue, isNew = false, autofocus = false, error }: PasswordProps) {
  const [isShown, setIsShown] = useState(false);
  // The types know one kind of input for each `type`.
  const kind: object = { type: isShown ? "text" : "password" };
  const hint = isNew ? `At least ${shortestPassword} characters. Long beats complicated.` : undefined;
  return (
    <Field label={label} hint={hint} error={error}>
      {(wiring) => (
        <div class="relative">
          <input
            {...wiring}
            {...kind}
            autocomplete={isNew ? "new-password" : "current-password"}
            required
            autofocus={autofocus}
            minLength={isNew ? shortestPassword : undefined}
            spellcheck={false}
            autocapitalize="off"
            value={value}
            onInput={(event) => onValue(event.currentTarget.value)}
            class="control pr-11"
          />
          <button
            type="button"
            aria-label={isShown ? "Hide the password" : "Show the password"}
            onClick={() => setIsShown(!isShown)}
            class="absolute inset-y-0 right-0 grid w-11 place-items-center text-muted hover:text-ink"
          >
            {isShown ? <EyeOff size={17} aria-hidden="true" /> : <Eye size={17} aria-hidden="true" />}
          </button>
        </div>
      )}
    </Field>
  );
}
