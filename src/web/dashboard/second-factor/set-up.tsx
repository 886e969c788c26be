/** Sets up the second factor: the secret goes into an app, and a code from the app confirms it. */
import { useMemo, useState } from "preact/hooks";
import { encode } from "uqr";
import { call, fieldProblem } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { RecoveryCodes, TotpSecret } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Snippet } from "../ui/copy.tsx";
import { Form, FormProblem } from "../ui/field.tsx";
import { Section } from "../ui/page.tsx";
import { Problem } from "../ui/states.tsx";
import { CodeField } from "./code-field.tsx";

export function SetUp({ onConfirmed }: { onConfirmed(codes: string[]): void }) {
  const [secret, setSecret] = useState<TotpSecret | null>(null);
  const begin = useAction(async () => setSecret(await call<TotpSecret>("POST", "/api/session/totp")));
  if (secret !== null) return <Confirmation secret={secret} onConfirmed={onConfirmed} />;
  return (
    <Section
      title="Set up an authenticator app"
      hint="You need an authenticator app, such as Aegis, 2FAS, Google Authenticator or the one built into your password manager."
    >
      <Problem error={begin.error} class="mb-4" />
      <Button kind="primary" isBusy={begin.isBusy} onClick={() => void begin.run()}>
        {" "}
        Set up{" "}
      </Button>
    </Section>
  );
}

function Confirmation({ secret, onConfirmed }: { secret: TotpSecret; onConfirmed(codes: string[]): void }) {
  const [code, setCode] = useState("");
  const { run, isBusy, error } = useAction(async () => {
    const codes = await call<RecoveryCodes>("POST", "/api/session/totp/confirm", { body: { code } });
    onConfirmed(codes.recovery_codes);
  });
  return (
    <div class="space-y-6">
      <Section title="1. Add the account to your app" hint="Scan the QR code, or enter the setup key.">
        <div class="flex flex-wrap items-start gap-6">
          <QrCode
            text={secret.otpauth_url}
            label="QR code for the authenticator app; the setup key next to it is the same"
          />
          <div class="min-w-0 flex-1 basis-64 space-y-3">
            <p class="font-medium">Setup key</p>
            <Snippet text={secret.secret.replace(/(.{4})(?=.)/g, "$1 ")} copyLabel="Copy the setup key" />
            <p class="text-14 text-muted">
              <a class="text-accent underline underline-offset-2" href={secret.otpauth_url}>
                Open in an app on this device
              </a>
            </p>
          </div>
        </div>
      </Section>
      <Section title="2. Enter the code from your app" hint="You'll be signed out everywhere else.">
        <Form class="max-w-xs space-y-4" onSubmit={() => void run()}>
          <CodeField value={code} onValue={setCode} error={fieldProblem(error, "code")} />
          <FormProblem error={error} fields={["code"]} />
          <Button type="submit" kind="primary" isBusy={isBusy} disabled={code.trim() === ""}>
            Turn on
          </Button>
        </Form>
      </Section>
    </div>
  );
}

/** Modules of white around it, which scanners need. */
const quietZone = 4;

/** A QR code, drawn by the browser: the secret in it goes nowhere. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => draw(text), [text]);
  return (
    // White in dark mode too: many scanners cannot read an inverted code.
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shape-rendering="crispEdges"
      class="size-52 shrink-0 rounded-lg border border-line"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

function draw(text: string): { size: number; path: string } {
  const { size, data } = encode(text, { ecc: "M", border: quietZone });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return { size, path: dark.join("") };
}
