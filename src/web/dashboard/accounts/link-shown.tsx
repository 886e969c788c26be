/** A one-time link, to be handed over. */
import { formatInstant } from "../lib/format.ts";
import type { ResetLink } from "../lib/types.ts";
import { Snippet } from "../ui/copy.tsx";

export function LinkShown({ email, link }: { email: string; link: ResetLink }) {
  return (
    <div class="space-y-3">
      <p class="text-muted">
        Give this link to <strong class="font-medium text-ink wrap-anywhere">{email}</strong> over a safe channel. It
        lets them choose a password. It works once, until {formatInstant(link.expires_at)}.
      </p>
      <Snippet text={link.url} copyLabel="Copy the link" />
    </div>
  );
}
