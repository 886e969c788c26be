/** The frame of the only page that an account sees until it has set up a required second factor. */
import { LogOut } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { toSentence } from "../lib/api.ts";
import { signOut } from "../lib/session.ts";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { Wordmark } from "../ui/wordmark.tsx";

export function SetUpFrame({ children }: { children: ComponentChildren }) {
  return (
    <div class="mx-auto min-h-dvh w-full max-w-2xl px-4 py-6">
      <header class="mb-8 flex items-center justify-between gap-4">
        <Wordmark />
        <Button kind="ghost" onClick={() => void signOut().catch((error: unknown) => say(toSentence(error)))}>
          <LogOut size={17} aria-hidden="true" />
          Sign out
        </Button>
      </header>
      <main class="space-y-6">
        <Notice tone="accent">This server requires two-factor authentication. Set it up to continue.</Notice>
        <div>{children}</div>
      </main>
    </div>
  );
}
