/** Form fields: a label, the control, a hint, and its error, linked for screen readers too. */
import { Eye, EyeOff } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { ApiError, type FieldProblem } from "../lib/api.ts";
import { Problem } from "./states.tsx";

export interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  /** Right of the label. */
  aside?: ComponentChildren;
  class?: string;
}

interface Wiring {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

interface FieldFrameProps extends FieldProps {
  children(wiring: Wiring): ComponentChildren;
}

/** Draws the frame around one control, which takes the given attributes. */
export function Field({ label, hint, error, aside, class: more = "", children }: FieldFrameProps) {
  const id = useId();
  const describedBy = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(" ");
  return (
    <div class={`min-w-0 ${more}`}>
      <div class="mb-1.5 flex items-baseline justify-between gap-3">
        <label for={id} class="font-medium">
          {label}
        </label>
        {aside && <span class="text-13 text-muted tabular-nums">{aside}</span>}
      </div>
      {children({ id, "aria-describedby": describedBy || undefined, "aria-invalid": error ? true : undefined })}
      <FieldNotes id={id} error={error} hint={hint} />
    </div>
  );
}

/** Below a control that is described by them: what is wrong with it, and a hint. */
export function FieldNotes({ id, error, hint }: Pick<FieldProps, "error" | "hint"> & { id: string }) {
  return (
    <>
      <FieldError id={`${id}-error`} error={error} />
      {hint && (
        <p id={`${id}-hint`} class="mt-1.5 text-13 text-muted">
          {hint}
        </p>
      )}
    </>
  );
}

interface FieldErrorProps {
  error: string | undefined;
  id?: string;
  role?: "alert";
  class?: string;
}

/** Nothing, while nothing is wrong. */
export function FieldError({ error, class: more = "mt-1.5", ...attributes }: FieldErrorProps) {
  return (
    error && (
      <p {...attributes} class={`text-13 text-bad ${more}`}>
        {error}
      </p>
    )
  );
}

interface InputAttributes {
  type?: "email" | "url" | "number" | "date";
  name?: string;
  placeholder?: string;
  autocomplete?: "username" | "one-time-code";
  inputMode?: "numeric" | "decimal";
  required?: boolean;
  autofocus?: boolean;
  maxLength?: number;
  min?: string | number;
  max?: string | number;
  step?: string | number;
}

export interface TextFieldProps extends FieldProps, InputAttributes {
  value: string;
  onValue(value: string): void;
  /** For machine-readable text: codes, ids, addresses. */
  isCode?: boolean;
  /** Only for fields of more than one line. */
  rows?: number;
}

export function TextField({ label, hint, error, aside, value, onValue, isCode, class: more, ...rest }: TextFieldProps) {
  const { rows } = rest;
  const Control = rows === undefined ? "input" : "textarea";
  // The types know one kind of input for each `type`; here it is not yet known.
  const attributes: object = { ...(rows === undefined && { type: "text", autocomplete: "off" }), ...rest };
  return (
    <Field label={label} hint={hint} error={error} aside={aside} class={more ?? ""}>
      {(wiring) => (
        <Control
          dir={isCode ? "ltr" : "auto"}
          spellcheck={isCode ? false : undefined}
          {...attributes}
          {...wiring}
          value={value}
          onInput={(event: { currentTarget: { value: string } }) => onValue(event.currentTarget.value)}
          class={`control ${rows === undefined ? "" : "block leading-relaxed"} ${isCode ? "font-mono text-13" : ""}`}
        />
      )}
    </Field>
  );
}

interface CheckProps {
  label: ComponentChildren;
  hint?: string;
  checked: boolean;
  onChecked(checked: boolean): void;
}

export function CheckField({ label, hint, checked, onChecked }: CheckProps) {
  const id = useId();
  return (
    <div class="flex items-start gap-2.5">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        aria-describedby={hint && `${id}-hint`}
        onChange={(event) => onChecked(event.currentTarget.checked)}
        class="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <div class="min-w-0 flex-1">
        <label for={id}>{label}</label>
        {hint && (
          <p id={`${id}-hint`} class="mt-0.5 text-13 text-pretty text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}

interface FormProps {
  class?: string;
  noValidate?: boolean;
  onInput?(event: Event): void;
  onSubmit(): void;
  children: ComponentChildren;
}

/** Submitting runs the action; the browser sends nothing itself. */
export function Form({ onSubmit, children, ...attributes }: FormProps) {
  return (
    <form
      {...attributes}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}

interface FormProblemProps {
  error: unknown;
  /** Those that show their own errors: what is only about them is not repeated. */
  fields?: readonly string[] | undefined;
  class?: string;
}

/** Why a form was refused. */
export function FormProblem({ error, fields = [], class: more = "" }: FormProblemProps) {
  const refused = error instanceof ApiError ? error.fields : [];
  const isShown = ({ param }: FieldProblem) => fields.some((name) => param === name || param.startsWith(`${name}.`));
  return refused.length > 0 && refused.every(isShown) ? null : <Problem error={error} class={more} />;
}

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

/** A password field that can show its text. */
export function PasswordField({ label, value, onValue, isNew = false, autofocus = false, error }: PasswordProps) {
  const [isShown, setIsShown] = useState(false);
  // The types know one kind of input for each `type`.
  const kind: object = { type: isShown ? "text" : "password" };
  const hint = isNew
    ? `At least ${shortestPassword} characters. A few words are safer than a short mix of signs.`
    : undefined;
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
            aria-label={isShown ? "Hide password" : "Show password"}
            onClick={() => setIsShown(!isShown)}
            class="absolute inset-y-0 right-0 grid w-11 place-items-center text-muted hover:text-ink"
          >
            {isShown ? <EyeOff size={16} aria-hidden="true" /> : <Eye size={16} aria-hidden="true" />}
          </button>
        </div>
      )}
    </Field>
  );
}
