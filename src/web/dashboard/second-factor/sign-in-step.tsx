/** The second step of signing in: the code, and help for people who have lost their device. */
import { SubmitForm } from "../pages/sign-in-frame.tsx";
import { Button } from "../ui/button.tsx";
import { SecondStepField } from "./code-field.tsx";
import type { SecondStep } from "./second-step.ts";

export function SignInStep({ step, code }: { step: SecondStep; code: string }) {
  const { setCode, restart, run, isBusy, error, codeError } = step;
  return (
    <>
      <SubmitForm action="Sign in" isBusy={isBusy} error={error} onSubmit={() => void run()}>
        <SecondStepField value={code} onValue={setCode} error={codeError} />
        <details class="text-14 text-muted">
          <summary class="w-fit hover:text-ink">Can't use either?</summary>
          <p class="mt-2 text-pretty">
            The operator of this server can reset two-factor for you with{" "}
            <code class="font-mono text-[0.92em]">companiond account reset-totp</code>.
          </p>
        </details>
      </SubmitForm>
      <Button kind="ghost" class="mt-2 w-full" onClick={restart}>
        Back
      </Button>
    </>
  );
}
