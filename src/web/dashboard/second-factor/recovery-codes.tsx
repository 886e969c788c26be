/** Recovery codes, shown once: to be copied, saved or written down before going on. */
import { Download } from "lucide-preact";
import { useState } from "preact/hooks";
import { saveFile } from "../lib/save-file.ts";
import { useSession } from "../lib/session.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { CheckField } from "../ui/field.tsx";
import { Section } from "../ui/page.tsx";
import { Notice } from "../ui/states.tsx";

export function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone(): void }) {
  const { account, server } = useSession();
  const [isKept, setIsKept] = useState(false);
  const text = `Recovery codes of ${account.email} at ${server.base_url}/app. Each signs in once.\n\n${codes.join("\n")}\n`;
  return (
    <Section title="Keep your recovery codes" hint="Each of them signs you in once, if you cannot use the app.">
      <div class="space-y-5">
        <Notice>They are shown only now. Keep them away from the phone: in a password manager, or on paper.</Notice>
        <ol
          dir="ltr"
          aria-label="Recovery codes"
          class="grid gap-x-8 gap-y-1.5 rounded-xl border border-line bg-sunken p-4 font-mono text-[0.94rem] sm:grid-cols-2"
        >
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ol>
        <div class="flex flex-wrap gap-2">
          <CopyButton text={text} label="Copy the codes" />
          <Button icon={Download} onClick={() => saveFile("companiond-recovery-codes.txt", text, "text/plain")}>
            Save as a file
          </Button>
        </div>
        <div class="space-y-4 border-t border-line pt-5">
          <CheckField label="I have kept the codes." checked={isKept} onChecked={setIsKept} />
          <Button kind="primary" disabled={!isKept} onClick={onDone}>
            Done
          </Button>
        </div>
      </div>
    </Section>
  );
}
