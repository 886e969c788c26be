/** A second factor that is on: how many recovery codes are left, and how to turn it off. */

import { useState } from "preact/hooks";
import { call, fieldProblem, toSentence } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { loadSession, useSession } from "../lib/session.ts";
import { Button } from "../ui/button.tsx";
import { Dialog, DialogActions } from "../ui/dialog.tsx";
import { Form } from "../ui/field.tsx";
import { Section } from "../ui/page.tsx";
import { PasswordField } from "../ui/password.tsx";
import { Badge, Notice, Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

const fewCodes = 3;

export function TurnedOn() {
  const { totp } = useSession();
  const [isAsking, setIsAsking] = useState(false);
  const left = totp.recovery_codes_left;
  return (
    <Section
      title="It is on"
      hint="Signing in takes your password and the code of your app."
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
  const { run, isBusy, error } = useAction(async () => {
    await call("DELETE", "/api/session/totp", { body: { password } });
    say("The second factor is off.");
    onClose();
    await loadSession();
  });
  const passwordError = fieldProblem(error, "password");
  return (
    <Dialog title="Turn the second factor off?" onClose={onClose}>
      <Form class="space-y-4" onSubmit={() => void run()}>
        <p class="text-muted">
          {isRequired
            ? "The operator of this server asks for one: you will be led to set up a new one at once."
            : "The password alone will sign you in. The recovery codes are deleted."}
        </p>
        <PasswordField label="Password" value={password} onValue={setPassword} error={passwordError} />
        {error !== null && passwordError === undefined && <Problem>{toSentence(error)}</Problem>}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="danger" isBusy={isBusy} disabled={password === ""}>
            Turn off
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
