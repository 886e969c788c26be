/** `/app/setup#secret`: the one-time link of a new installation creates its first operator. */
import { useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { navigate, startPath } from "../lib/router.ts";
import { enter } from "../lib/session.ts";
import type { SignedIn } from "../lib/types.ts";
import { PasswordField, TextField } from "../ui/field.tsx";
import { LinkFrame } from "./link.tsx";
import { readLinkSecret, SubmitForm } from "./sign-in-frame.tsx";

export default function SetUpPage() {
  const [secret] = useState(readLinkSecret);
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const { run, isBusy, error } = useAction(async () => {
    const made = await call<SignedIn>("POST", "/api/session/set-up", { body: { secret, email, password } });
    navigate(startPath, { replace: true });
    enter(made);
  });
  return (
    <LinkFrame
      secret={secret}
      kind="setup"
      title="Set up companiond"
      lead="You'll be the operator of this server and manage all other accounts."
      help="If this server is set up already, sign in. Otherwise, run “companiond account setup-link” for a new link."
    >
      {() => (
        <SubmitForm action="Create account" isBusy={isBusy} error={error} onSubmit={() => void run()}>
          <TextField
            label="Your email"
            type="email"
            name="email"
            autocomplete="username"
            required
            autofocus
            hint="Used to sign in, and for password links."
            value={email}
            onValue={setEmail}
            error={fieldProblem(error, "email")}
          />
          <PasswordField
            label="Password"
            isNew
            value={password}
            onValue={setPassword}
            error={fieldProblem(error, "password")}
          />
        </SubmitForm>
      )}
    </LinkFrame>
  );
}
