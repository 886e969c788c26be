/** `/app/account/second-factor`: a code of an app beside the password. */
import { useState } from "preact/hooks";
import { navigate, releaseGuard, useLeaveGuard } from "../lib/router.ts";
import { loadSession, mustSetUpTotp, useSession } from "../lib/session.ts";
import { homePath } from "../paths.ts";
import { RecoveryCodes } from "../second-factor/recovery-codes.tsx";
import { SetUp } from "../second-factor/set-up.tsx";
import { TurnedOn } from "../second-factor/turned-on.tsx";
import { focusPage } from "../ui/focus.ts";
import { PageHead } from "../ui/page.tsx";
import { say } from "../ui/toast.tsx";

export default function SecondFactorPage() {
  const signedIn = useSession();
  const [codes, setCodes] = useState<string[] | null>(null);
  useLeaveGuard(codes !== null);
  const isFirst = mustSetUpTotp(signedIn);

  async function finish(): Promise<void> {
    releaseGuard();
    setCodes(null);
    // Not before: the frame around this page would change, and the codes be gone.
    await loadSession();
    say("The second factor is on.");
    if (isFirst) navigate(homePath, { replace: true });
    // The button has gone with the codes.
    requestAnimationFrame(focusPage);
  }

  return (
    <>
      <PageHead title="Second factor" {...(isFirst ? {} : { back: { href: "/app/account", label: "Your account" } })}>
        {signedIn.totp.is_on ? null : "Whoever learns your password still stays out without a code from your app."}
      </PageHead>
      {codes !== null && <RecoveryCodes codes={codes} onDone={() => void finish()} />}
      {codes === null && (signedIn.totp.is_on ? <TurnedOn /> : <SetUp onConfirmed={setCodes} />)}
    </>
  );
}
