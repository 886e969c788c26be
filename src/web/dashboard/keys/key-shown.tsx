/** A key in full, the one time that it can be seen, with a line to try it. */
import type { ComponentChildren } from "preact";
import { useSession } from "../lib/session.ts";
import type { MadeKey } from "../lib/types.ts";
import { Snippet } from "../ui/copy.tsx";
import { ShownOnce } from "../ui/dialog.tsx";
import { Notice } from "../ui/states.tsx";

interface KeyShownProps {
  made: MadeKey;
  onClose(): void;
  children?: ComponentChildren;
}

export function KeyShown({ made, onClose, children }: KeyShownProps) {
  const { server } = useSession();
  const path = made.scopes.includes("companions:read") ? "/api/companions" : "/api/usage";
  const curl = `curl ${server.base_url}${path} \\\n  -H 'Authorization: Bearer ${made.key}'`;
  return (
    <ShownOnce title="Your new API key" onClose={onClose}>
      <Notice>Copy this key now. You won't be able to see it again.</Notice>
      <Snippet text={made.key} copyLabel="Copy the key" />
      <p class="font-medium">Try it</p>
      <Snippet text={curl} copyLabel="Copy the line" />
      {children}
    </ShownOnce>
  );
}
