/** `/app/reset#secret` and `/app/invitation#secret`: a one-time link lets an account's owner, or a member, choose a password. */
import { useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { homePath, navigate } from "../lib/router.ts";
import { enter } from "../lib/session.ts";
import type { SignedIn } from "../lib/types.ts";
import { SecondStepField } from "../second-factor/code-field.tsx";
import { useSecondStep } from "../second-factor/second-step.ts";
import { PasswordField } from "../ui/field.tsx";
import { LinkFrame, LinkOwner } from "./link.tsx";
import { readLinkSecret, SubmitForm } from "./sign-in-frame.tsx";

const invitation = {
  path: "/api/session/invitation",
  title: "Welcome to the team",
  lead: "Choose a password. You'll sign in with it and your email address.",
  action: "Join",
  kind: "invitation" as const,
  help: "Ask an owner of the account for a new link.",
};
const reset = {
  path: "/api/session/password-reset",
  title: "Choose a password",
  lead: "You'll be signed in here and signed out everywhere else.",
  action: "Save and sign in",
  kind: "reset" as const,
  help: "Ask the operator of this server for a new link.",
};

export default function ResetPage() {
  const [{ path, action, ...frame }] = useState(location.pathname === "/app/invitation" ? invitation : reset);
  const [secret] = useState(readLinkSecret);
  const [password, setPassword] = useState("");
  const { code, setCode, run, isBusy, error, codeError } = useSecondStep(async (totp) => {
    const made = await call<SignedIn>("POST", path, { body: { secret, password, ...totp } });
    navigate(homePath, { replace: true });
    enter(made);
  });
  return (
    <LinkFrame secret={secret} {...frame}>
      {(email) => (
        <SubmitForm action={action} isBusy={isBusy} error={error} onSubmit={() => void run()}>
          <LinkOwner email={email} />
          <PasswordField
            label="New password"
            isNew
            value={password}
            onValue={setPassword}
            error={fieldProblem(error, "password")}
          />
          {code !== null && <SecondStepField value={code} onValue={setCode} error={codeError} />}
        </SubmitForm>
      )}
    </LinkFrame>
  );
}
