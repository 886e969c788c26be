/** Checks a one-time link before its form is shown, so that no one fills it in for a link that no longer works. */
import type { ComponentChildren } from "preact";
import { ApiError, call } from "../lib/api.ts";
import { useLoad } from "../lib/load.ts";
import { signInPath } from "../lib/router.ts";
import type { LinkObject } from "../lib/types.ts";
import { ButtonLink } from "../ui/button.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { LinkIncomplete, SignInFrame } from "./sign-in-frame.tsx";

const read = (secret: string, signal: AbortSignal) =>
  call<LinkObject>("POST", "/api/session/link", { body: { secret }, signal });

interface LinkFrameProps {
  secret: string;
  kind: LinkObject["kind"];
  title: string;
  lead: string;
  /** What helps if the link no longer works. */
  help: string;
  children(email: string | null): ComponentChildren;
}

export function LinkFrame({ secret, kind, title, lead, help, children }: LinkFrameProps) {
  const link = useLoad(secret === "" ? null : secret, read);
  if (secret === "") return <LinkIncomplete />;
  const isGone = link.error instanceof ApiError && link.error.status === 404;
  if (isGone || (link.data !== null && link.data.kind !== kind)) {
    return (
      <SignInFrame title="This link no longer works" lead={`It has been used or replaced, or has expired. ${help}`}>
        <ButtonLink href={signInPath} class="w-full">
          Back to sign-in
        </ButtonLink>
      </SignInFrame>
    );
  }
  return (
    <SignInFrame title={title} lead={lead}>
      {link.data !== null ? (
        children(link.data.email)
      ) : link.error !== null ? (
        <Failure error={link.error} onRetry={link.reload} />
      ) : (
        <Skeleton lines={2} />
      )}
    </SignInFrame>
  );
}

/** Whose password it is; password managers save it with the password. */
export function LinkOwner({ email }: { email: string | null }) {
  return (
    email !== null && (
      <label class="block">
        <span class="block text-14 font-medium">Email</span>
        <input
          class="mt-1 w-full bg-transparent text-muted outline-none"
          type="email"
          name="email"
          autocomplete="username"
          readOnly
          value={email}
        />
      </label>
    )
  );
}
