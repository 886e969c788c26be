/** A second factor that is on: how many recovery codes are left, and how to turn it off. */

import { useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { loadSession, useSession } from "../lib/session.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { Section } from "../ui/page.tsx";
import { PasswordField } from "../ui/password.tsx";
import { Badge, Notice } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

const fewCodes = 3;

export function TurnedOn() {
  const { totp } = useSession();
  const [isAsking, setIsAsking] = useState(false);
  const left = totp.recovery_codes_left;
  return (
    <Section
      title="It is on"
      hint="Signing in takes your password and a code from your app."
      actions={<Badge tone="good">On</Badge>}
    >
      <div class="space-y-5">
        <p>
          {left === 0
            ? "No recovery code is left."
            : `${left} recovery ${left === 1 ? "code is" : "codes are"} left; each signs in once.`}
        </p>
        {left < fewCodes && (
          <Notice>For ten new recovery codes, or another phone: turn it off, then set it up again.</Notice>
        )}
        <Button kind="risk" onClick={() => setIsAsking(true)}>
          Turn off…
        </Button>
      </div>
      {isAsking && <TurnOff isRequired={totp.is_required} onClose={() => setIsAsking(false)} />}
    </Section>
  );
}

function TurnOff({ isRequired, onClose }: { isRequired: boolean; onClose(): void }) {
  const [password, setPassword] = useState("");
  const submit = useAction(async () => {
    await call("DELETE", "/api/session/totp", { body: { password } });
    say("The second factor is off.");
    onClose();
    await loadSession();
  });
  const passwordError = fieldProblem(submit.error, "password");
  return (
    <FormDialog
      title="Turn the second factor off?"
      action="Turn off"
      kind="danger"
      isReady={password !== ""}
      submit={submit}
      isTold={passwordError !== undefined}
      onClose={onClose}
    >
      <p class="text-muted">
        {isRequired
          ? "The operator of this server asks for one: you will be led to set up a new one at once."
          : "The password alone will sign you in. The recovery codes are deleted."}
      </p>
      <PasswordField label="Password" value={password} onValue={setPassword} error={passwordError} />
    </FormDialog>
  );
}
