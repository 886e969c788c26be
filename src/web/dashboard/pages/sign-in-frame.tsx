/** The frame of the sign-in pages: one card, one form. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { signInPath } from "../lib/router.ts";
import { Button, ButtonLink } from "../ui/button.tsx";
import { Form } from "../ui/field.tsx";
import { Problem } from "../ui/states.tsx";
import { Wordmark } from "../ui/wordmark.tsx";

interface SignInFrameProps {
  title: string;
  lead: string;
  children: ComponentChildren;
}

export function SignInFrame({ title, lead, children }: SignInFrameProps) {
  useEffect(() => {
    document.title = `${title} · companiond`;
  }, [title]);
  return (
    <main class="mx-auto flex min-h-dvh w-full max-w-md flex-col justify-center px-4 py-10">
      <div class="mb-8 flex justify-center">
        <Wordmark />
      </div>
      <div class="card animate-[rise_140ms_ease-out] p-6 floating sm:p-8">
        <h1 class="text-20 font-semibold tracking-tight">{title}</h1>
        <p class="mt-1 mb-6 text-pretty text-muted">{lead}</p>
        {children}
      </div>
    </main>
  );
}

interface SubmitFormProps {
  action: string;
  isBusy: boolean;
  error: unknown;
  onSubmit(): void;
  children: ComponentChildren;
}

export function SubmitForm({ action, isBusy, error, onSubmit, children }: SubmitFormProps) {
  return (
    <Form class="space-y-4" onSubmit={onSubmit}>
      {children}
      <Problem error={error} />
      <Button type="submit" kind="primary" isBusy={isBusy} class="w-full">
        {action}
      </Button>
    </Form>
  );
}

/** The secret of a one-time link: in the fragment, which browsers do not send. */
export function readLinkSecret(): string {
  return location.hash.slice(1);
}

export function LinkIncomplete() {
  return (
    <SignInFrame
      title="The link is incomplete"
      lead="Copy the whole link, including everything after the #, and open it again."
    >
      <ButtonLink href={signInPath} class="w-full">
        Back to sign-in
      </ButtonLink>
    </SignInFrame>
  );
}
