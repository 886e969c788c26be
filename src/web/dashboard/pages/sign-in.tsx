/** `/app/sign-in`, and its form, which also stands over a page whose session has ended. */
import { useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { enter } from "../lib/session.ts";
import type { SignedIn } from "../lib/types.ts";
import { TextField } from "../ui/field.tsx";
import { PasswordField } from "../ui/password.tsx";
import { Door, DoorForm } from "./door.tsx";

export default function SignInPage() {
  return (
    <Door title="Sign in" lead="Manage your companions, their conversations and your API keys.">
      <SignInForm onSignedIn={enter} />
    </Door>
  );
}

interface SignInFormProps {
  /** Filled in beforehand, where it is known. */
  email?: string;
  onSignedIn(made: SignedIn): void;
}

export function SignInForm({ email: known = "", onSignedIn }: SignInFormProps) {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState("");
  const { run, isBusy, error } = useAction(async () => {
    onSignedIn(await call<SignedIn>("POST", "/api/session", { body: { email, password } }));
  });
  return (
    <DoorForm action="Sign in" isBusy={isBusy} error={error} onSubmit={() => void run()}>
      <TextField
        label="E-mail"
        type="email"
        name="email"
        autocomplete="username"
        required
        autofocus={known === ""}
        value={email}
        onValue={setEmail}
      />
      <PasswordField label="Password" autofocus={known !== ""} value={password} onValue={setPassword} />
      <details class="text-[0.94rem] text-muted">
        <summary class="w-fit hover:text-ink">No password, or forgotten?</summary>
        <p class="mt-2 text-pretty">
          The operator of this server can make you a link, in the dashboard or with{" "}
          <code class="font-mono text-[0.92em]">companiond account reset-link</code>. On a new server,{" "}
          <code class="font-mono text-[0.92em]">companiond account setup-link</code> makes the first account.
        </p>
      </details>
    </DoorForm>
  );
}
