/** The dialogs over a page that must not be lost: before unsaved work is left, and when the session has ended. */
import { hasUnsavedWork, heldBack, homePath, releaseGuard } from "./lib/router.ts";
import { interruption, leave, resume, useSession } from "./lib/session.ts";
import { use } from "./lib/state.ts";
import { Button } from "./ui/button.tsx";
import { Confirm, Dialog, MessageDialog } from "./ui/dialog.tsx";
import { lazy } from "./ui/lazy.tsx";
import { say } from "./ui/toast.tsx";

const SignInForm = lazy(async () => (await import("./pages/sign-in.tsx")).SignInForm);

export function OverPage() {
  const held = use(heldBack);
  const found = use(interruption);
  return (
    <>
      {held && <LeaveDialog act={held} />}
      {found?.kind === "ended" && <EndedDialog />}
      {found?.kind === "replaced" && <ReplacedDialog email={found.email} />}
    </>
  );
}

function LeaveDialog({ act }: { act(): void }) {
  return (
    <Confirm
      title="Leave without saving?"
      action="Leave"
      stay="Stay"
      onConfirm={() => {
        releaseGuard();
        act();
      }}
      onClose={() => {
        heldBack.value = null;
      }}
    >
      <p>Your changes on this page haven't been saved.</p>
    </Confirm>
  );
}

function EndedDialog() {
  const { account } = useSession();
  return (
    <Dialog title="Sign in to continue" onClose={() => {}} isSticky>
      <p class="mb-4 text-pretty text-muted">
        Your session has ended. {hasUnsavedWork() && "What you typed on this page is still here."}
      </p>
      <SignInForm
        email={account.email}
        onSignedIn={(made) => {
          resume(made);
          if (made.account.id === account.id) say("Signed in again. Try that again.");
        }}
      />
      <Button
        kind="ghost"
        class="mt-2 w-full"
        onClick={() => {
          releaseGuard();
          leave();
        }}
      >
        Leave this page without saving
      </Button>
    </Dialog>
  );
}

/** Reloads the whole page: nothing of one account may be left for the other. */
function ReplacedDialog({ email }: { email: string }) {
  const { account } = useSession();
  return (
    <MessageDialog
      title="Another account is signed in"
      action={`Continue as ${email}`}
      onAct={() => {
        releaseGuard();
        location.assign(homePath);
      }}
      onClose={() => {}}
      isSticky
    >
      <p class="text-pretty text-muted">
        This browser is signed in as <strong class="text-ink">{email}</strong> now. What you typed on this page belongs
        to <strong class="text-ink">{account.email}</strong>: it wasn't sent, and can't be kept.
      </p>
    </MessageDialog>
  );
}
