/** Rotation: first a new key with the same scopes, then, once everything uses it, the end of the old one. */
import { useState } from "preact/hooks";
import { call, toSentence } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { ApiKey } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Dialog, DialogActions } from "../ui/dialog.tsx";
import { Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { KeyShown } from "./key-shown.tsx";
import type { MadeKey } from "./new-key.tsx";

interface RotateKeyProps {
  old: ApiKey;
  onChanged(): Promise<void>;
  onClose(): void;
}

export function RotateKey({ old, onChanged, onClose }: RotateKeyProps) {
  const [made, setMade] = useState<MadeKey | null>(null);
  const make = useAction(async () => {
    const body = { name: old.name, scopes: old.scopes, expires_at: renewedExpiry(old) };
    setMade(await call<MadeKey>("POST", "/api/keys", { body }));
    await onChanged();
  });
  const revoke = useAction(async () => {
    await call("DELETE", `/api/keys/${old.id}`);
    say("The old key is revoked.");
    onClose();
    await onChanged();
  });
  const error = make.error ?? revoke.error;
  return (
    <Dialog title={`Rotate ${old.name}`} onClose={onClose} isSticky={made !== null} isWide>
      {made === null ? (
        <ol class="list-decimal space-y-1.5 pl-5 text-muted marker:text-muted">
          <li>You get a new key with the same name and scopes.</li>
          <li>You put it in the place of the old one, which works on meanwhile.</li>
          <li>You revoke the old one, here or later in the list.</li>
        </ol>
      ) : (
        <>
          <KeyShown made={made} />
          <p class="mt-5">
            Does everything use the new key? Then revoke the old one,{" "}
            <code class="font-mono text-[0.86rem]">{old.start}…</code>
          </p>
        </>
      )}
      {error !== null && <Problem class="mt-4">{toSentence(error)}</Problem>}
      <DialogActions>
        {made === null ? (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" isBusy={make.isBusy} onClick={() => void make.run()}>
              Make the new key
            </Button>
          </>
        ) : (
          <>
            <Button onClick={onClose}>Revoke it later</Button>
            <Button kind="danger" isBusy={revoke.isBusy} onClick={() => void revoke.run()}>
              Revoke the old key
            </Button>
          </>
        )}
      </DialogActions>
    </Dialog>
  );
}

/** As long as the old one was given; a key that never expires is followed by one that does not either. */
function renewedExpiry({ created_at, expires_at }: ApiKey): string | null {
  if (expires_at === null) return null;
  return new Date(Date.now() + Date.parse(expires_at) - Date.parse(created_at)).toISOString();
}
