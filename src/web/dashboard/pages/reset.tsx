/** `/app/reset#secret`: a one-time link lets an account's owner choose a password. */
import { useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { homePath, navigate } from "../lib/router.ts";
import { enter } from "../lib/session.ts";
import type { SignedIn } from "../lib/types.ts";
import { SecondStepField } from "../second-factor/code-field.tsx";
import { useSecondStep } from "../second-factor/second-step.ts";
import { PasswordField } from "../ui/field.tsx";
import { Door, DoorForm, LinkIncomplete, readLinkSecret } from "./door.tsx";

export default function ResetPage() {
  const [secret] = useState(readLinkSecret);
  const [password, setPassword] = useState("");
  const { code, setCode, run, isBusy, error, codeError } = useSecondStep(async (totp) => {
    const made = await call<SignedIn>("POST", "/api/session/password-reset", { body: { secret, password, ...totp } });
    navigate(homePath, { replace: true });
    enter(made);
  });
  if (secret === "") return <LinkIncomplete />;
  return (
    <Door title="Choose a password" lead="You are signed in with it at once. Everywhere else you are signed out.">
      <DoorForm action="Save and sign in" isBusy={isBusy} error={error} onSubmit={() => void run()}>
        <PasswordField
          label="New password"
          isNew
          value={password}
          onValue={setPassword}
          error={fieldProblem(error, "password")}
        />
        {code !== null && <SecondStepField value={code} onValue={setCode} error={codeError} />}
      </DoorForm>
    </Door>
  );
}
