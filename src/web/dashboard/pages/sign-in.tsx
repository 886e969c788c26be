/** `/app/sign-in`, and its form, which also stands over a page whose session has ended. */
import { useEffect, useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { enter } from "../lib/session.ts";
import type { SignedIn } from "../lib/types.ts";
import { useSecondStep } from "../second-factor/second-step.ts";
import { Button } from "../ui/button.tsx";
import { PasswordField, TextField } from "../ui/field.tsx";
import { lazy } from "../ui/lazy.tsx";
import { SignInFrame, SubmitForm } from "./sign-in-frame.tsx";

const SignInStep = lazy(async () => (await import("../second-factor/sign-in-step.tsx")).SignInStep);

export default function SignInPage() {
  const [asked, setAsked] = useState<string | null>(null);
  if ("isNew" in document.documentElement.dataset) return <NewServer />;
  const lead = "Manage your companions, their conversations and your API keys.";
  return (
    <SignInFrame
      title={asked === null ? "Sign in" : "Two-factor authentication"}
      lead={asked === null ? lead : `Signing in as ${asked}.`}
    >
      <SignInForm onSignedIn={enter} onAsked={setAsked} />
    </SignInFrame>
  );
}

/** There is nothing to sign in with yet. The page in which someone uses the link signs the others in. */
function NewServer() {
  return (
    <SignInFrame title="This server is new" lead="There are no accounts yet. Create the first one to sign in.">
      <div class="space-y-4 text-pretty">
        <p>
          Is it yours? Open the one-time link that creates the first account. The server printed it on its terminal when
          it started, or wrote it to the file <code class="font-mono text-[0.92em]">setup-link</code> in its data
          directory. <code class="font-mono text-[0.92em]">companiond account setup-link</code> creates a new one.
        </p>
        <Button class="w-full" onClick={() => location.reload()}>
          I've created the account
        </Button>
      </div>
    </SignInFrame>
  );
}

interface SignInFormProps {
  /** Filled in beforehand, where it is known. */
  email?: string;
  onSignedIn(made: SignedIn): void;
  /** Called with the account whose second factor is required; with null back at the first step. */
  onAsked?(email: string | null): void;
}

/** Address and password, then the code where the account has a second factor. */
export function SignInForm({ email: known = "", onSignedIn, onAsked }: SignInFormProps) {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState("");
  const step = useSecondStep(async (totp) => {
    onSignedIn(await call<SignedIn>("POST", "/api/session", { body: { email, password, ...totp } }));
  });
  const { code, run, isBusy, error } = step;
  const isAsked = code !== null;
  useEffect(() => onAsked?.(isAsked ? email : null), [isAsked]);
  if (code !== null) return <SignInStep step={step} code={code} />;
  return (
    <SubmitForm action="Sign in" isBusy={isBusy} error={error} onSubmit={() => void run()}>
      <TextField
        label="Email"
        type="email"
        name="email"
        autocomplete="username"
        required
        autofocus={known === ""}
        value={email}
        onValue={setEmail}
      />
      <PasswordField label="Password" autofocus={known !== ""} value={password} onValue={setPassword} />
      <details class="text-14 text-muted">
        <summary class="w-fit hover:text-ink">Forgot your password?</summary>
        <p class="mt-2 text-pretty">
          The operator of this server can create a password link for you, in the dashboard or with{" "}
          <code class="font-mono text-[0.92em]">companiond account reset-link</code>. On a new server,{" "}
          <code class="font-mono text-[0.92em]">companiond account setup-link</code> creates the first account.
        </p>
      </details>
    </SubmitForm>
  );
}
