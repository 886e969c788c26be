/** The secret that signs requests to an owner's server: shown the one time that it can be seen, and replaced. */
import { useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { Snippet } from "./copy.tsx";
import { FormDialog, ShownOnce } from "./dialog.tsx";
import { Notice } from "./states.tsx";

interface SecretProps {
  /** Of what it signs for. */
  name: string;
  secret: string;
  onClose(): void;
}

export function SecretShown({ name, secret, onClose }: SecretProps) {
  return (
    <ShownOnce title={`Secret of ${name}`} onClose={onClose}>
      <Notice>Copy this secret now. You won't be able to see it again.</Notice>
      <Snippet text={secret} copyLabel="Copy the secret" />
      <p class="text-pretty text-muted">
        Requests are signed with it, by Standard Webhooks: your server checks the signature, and so knows that they come
        from here. There are libraries for that in most languages.
      </p>
    </ShownOnce>
  );
}

interface RotateProps extends Omit<SecretProps, "secret"> {
  /** Of what it signs for. */
  path: string;
}

export function RotateSecret({ name, path, onClose }: RotateProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const submit = useAction(async () => {
    const rotated = await call<{ secret?: string }>("POST", `${path}/rotate-secret`);
    setSecret(rotated.secret ?? "");
  });
  if (secret !== null) return <SecretShown name={name} secret={secret} onClose={onClose} />;
  return (
    <FormDialog
      title={`A new secret for ${name}?`}
      action="Create new secret"
      kind="danger"
      isThrowaway
      submit={submit}
      onClose={onClose}
    >
      <p class="text-muted">
        Requests are signed with the new secret from the next one on. A server that has only the old secret refuses them
        until it has the new one.
      </p>
    </FormDialog>
  );
}
