/** `/app/sign-in`: address and password, then the code where the account has a second factor. */
import { useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { session } from "../lib/session.ts";
import type { SignedIn } from "../lib/types.ts";
import { SecondStepField } from "../second-factor/code-field.tsx";
import { useSecondStep } from "../second-factor/second-step.ts";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/field.tsx";
import { PasswordField } from "../ui/password.tsx";
import { Door, DoorForm } from "./door.tsx";

export default function SignInPage() {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const { code, setCode, restart, run, isBusy, error, codeError } = useSecondStep(async (totp) => {
    session.value = await call<SignedIn>("POST", "/api/session", { body: { email, password, ...totp } });
  });
  if (code !== null) {
    return (
      <Door title="Your second factor" lead={`Signing in as ${email}.`}>
        <DoorForm action="Sign in" isBusy={isBusy} error={error} onSubmit={() => void run()}>
          <SecondStepField value={code} onValue={setCode} error={codeError} />
          <details class="text-[0.94rem] text-muted">
            <summary class="w-fit hover:text-ink">Lost both?</summary>
            <p class="mt-2 text-pretty">
              The operator of this server can take your second factor away with{" "}
              <code class="font-mono text-[0.92em]">companiond account reset-totp</code>.
            </p>
          </details>
        </DoorForm>
        <Button kind="ghost" class="mt-2 w-full" onClick={restart}>
          Back
        </Button>
      </Door>
    );
  }
  return (
    <Door title="Sign in" lead="Manage your companions, their conversations and your API keys.">
      <DoorForm action="Sign in" isBusy={isBusy} error={error} onSubmit={() => void run()}>
        <TextField
          label="E-mail"
          type="email"
          name="email"
          autocomplete="username"
          required
          autofocus
          value={email}
          onValue={setEmail}
        />
        <PasswordField label="Password" value={password} onValue={setPassword} />
        <details class="text-[0.94rem] text-muted">
          <summary class="w-fit hover:text-ink">No password, or forgotten?</summary>
          <p class="mt-2 text-pretty">
            The operator of this server can make you a link, in the dashboard or with{" "}
            <code class="font-mono text-[0.92em]">companiond account reset-link</code>. On a new server,{" "}
            <code class="font-mono text-[0.92em]">companiond account setup-link</code> makes the first account.
          </p>
        </details>
      </DoorForm>
    </Door>
  );
}
