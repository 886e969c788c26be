/** `/app/account/second-factor`: a code of an app beside the password. */
import { Download } from "lucide-preact";
import { useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { homePath, navigate, releaseGuard, useLeaveGuard } from "../lib/router.ts";
import { loadSession, mustSetUpTotp, useSession } from "../lib/session.ts";
import { SetUp } from "../second-factor/set-up.tsx";
import { Button } from "../ui/button.tsx";
import { CopyButton, saveFile } from "../ui/copy.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { CheckField, PasswordField } from "../ui/field.tsx";
import { focusPage } from "../ui/focus.ts";
import { PageHead, Section } from "../ui/page.tsx";
import { Badge, Notice } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

export default function SecondFactorPage() {
  const signedIn = useSession();
  const [codes, setCodes] = useState<string[] | null>(null);
  useLeaveGuard(codes !== null);
  const isFirst = mustSetUpTotp(signedIn);

  async function finish(): Promise<void> {
    releaseGuard();
    setCodes(null);
    // Not earlier: the frame around this page would change, and the codes would disappear.
    await loadSession();
    say("Two-factor authentication is on.");
    if (isFirst) navigate(homePath, { replace: true });
    // The button disappeared with the codes.
    requestAnimationFrame(focusPage);
  }

  return (
    <>
      <PageHead
        title="Two-factor authentication"
        {...(isFirst ? {} : { back: { href: "/app/account", label: "Your account" } })}
      >
        {signedIn.totp.is_on ? null : "Protects your account even if someone learns your password."}
      </PageHead>
      {codes !== null && <RecoveryCodes codes={codes} onDone={() => void finish()} />}
      {codes === null && (signedIn.totp.is_on ? <TurnedOn /> : <SetUp onConfirmed={setCodes} />)}
    </>
  );
}

/** Recovery codes, shown once: to be copied, saved or written down before going on. */
function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone(): void }) {
  const { account, server } = useSession();
  const [isKept, setIsKept] = useState(false);
  const text = `Recovery codes of ${account.email} at ${server.base_url}/app. Each signs in once.\n\n${codes.join("\n")}\n`;
  return (
    <Section title="Save your recovery codes" hint="Each signs you in once if you can't use your app.">
      <div class="space-y-5">
        <Notice>You won't see them again. Keep them away from your phone: in a password manager, or on paper.</Notice>
        <ol
          dir="ltr"
          aria-label="Recovery codes"
          class="grid gap-x-8 gap-y-1.5 rounded-lg border border-line bg-sunken p-4 font-mono text-14 sm:grid-cols-2"
        >
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ol>
        <div class="flex flex-wrap gap-2">
          <CopyButton text={text} label="Copy the codes" />
          <Button icon={Download} onClick={() => saveFile("companiond-recovery-codes.txt", text, "text/plain")}>
            Download
          </Button>
        </div>
        <div class="space-y-4 border-t border-line pt-5">
          <CheckField label="I've saved my recovery codes." checked={isKept} onChecked={setIsKept} />
          <Button kind="primary" disabled={!isKept} onClick={onDone}>
            Done
          </Button>
        </div>
      </div>
    </Section>
  );
}

const fewCodes = 3;

/** A second factor that is on: how many recovery codes are left, and how to turn it off. */
function TurnedOn() {
  const { totp } = useSession();
  const [isAsking, setIsAsking] = useState(false);
  const left = totp.recovery_codes_left;
  return (
    <Section
      title="Two-factor authentication is on"
      hint="You sign in with your password and a code from your app."
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
    say("Two-factor authentication is off.");
    onClose();
    await loadSession();
  });
  return (
    <FormDialog
      title="Turn off two-factor authentication?"
      action="Turn off"
      kind="danger"
      isReady={password !== ""}
      submit={submit}
      fields={["password"]}
      onClose={onClose}
    >
      <p class="text-muted">
        {isRequired
          ? "This server requires two-factor authentication. You'll set it up again right away."
          : "The password alone will sign you in. The recovery codes are deleted."}
      </p>
      <PasswordField
        label="Password"
        value={password}
        onValue={setPassword}
        error={fieldProblem(submit.error, "password")}
      />
    </FormDialog>
  );
}
