/** A field for the code of an authenticator app, or for a recovery code. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { TextField } from "../ui/field.tsx";

interface CodeFieldProps {
  value: string;
  onValue(value: string): void;
  error?: string | undefined;
}

export function CodeField({ value, onValue, error }: CodeFieldProps) {
  return (
    <TextField
      label="Code"
      name="code"
      autocomplete="one-time-code"
      inputMode="numeric"
      hint="The six digits in your app."
      maxLength={16}
      required
      isCode
      value={value}
      onValue={onValue}
      error={error}
    />
  );
}

/** The same, with a recovery code for people without their phone at hand. */
export function SecondStepField({ value, onValue, error }: CodeFieldProps) {
  const [isRecovery, setIsRecovery] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  // It appears in a page that is already loaded, where `autofocus` has no effect.
  useLayoutEffect(() => box.current?.querySelector("input")?.focus(), [isRecovery]);
  return (
    <div class="space-y-3" ref={box}>
      {isRecovery ? (
        <TextField
          key="recovery"
          label="Recovery code"
          hint="One of the ten you saved at set-up. Each works once."
          maxLength={64}
          required
          isCode
          value={value}
          onValue={onValue}
          error={error}
        />
      ) : (
        <CodeField key="code" value={value} onValue={onValue} error={error} />
      )}
      <button
        type="button"
        class="text-14 text-muted underline underline-offset-2 hover:text-ink"
        onClick={() => {
          setIsRecovery(!isRecovery);
          onValue("");
        }}
      >
        {isRecovery ? "Use a code from your app" : "Can't use your app? Use a recovery code"}
      </button>
    </div>
  );
}
