/** What an operator does with one account. */
import { useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { useAction, useLoad } from "../lib/load.ts";
import type { Account, ResetLink, VoiceAgentGrant } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Confirm, ConfirmDelete, Dialog } from "../ui/dialog.tsx";
import { Notice, Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { LinkShown, PlanAndRole } from "./new-account.tsx";
import { AccountSpending, type LoadedStops, StopAccount, stopOf } from "./spending-stops.tsx";
import { type LoadedGrants, TakeAgent, VoiceAgents } from "./voice-agents.tsx";

interface ManageAccountProps {
  account: Account;
  isOwn: boolean;
  stops: LoadedStops;
  onChanged(account: Account): Promise<void>;
  onClose(): void;
}

export function ManageAccount({ account, isOwn, stops, onChanged, onClose }: ManageAccountProps) {
  const [asked, setAsked] = useState<"suspend" | "stop" | "delete" | VoiceAgentGrant | null>(null);
  const [link, setLink] = useState<ResetLink | null>(null);
  const path = `/api/accounts/${account.id}`;
  const grants: LoadedGrants = useLoad(`${path}/voice-agents`);
  const patch = useAction(async (body: { suspended: boolean }) => {
    await onChanged(await call<Account>("PATCH", path, { body }));
    say("Saved.");
  });
  const makeLink = useAction(async () => setLink(await call<ResetLink>("POST", `${path}/reset-link`)));
  const error = patch.error ?? makeLink.error;

  if (asked === "suspend") {
    return (
      <Confirm
        title={`Suspend ${account.email}?`}
        action="Suspend"
        onConfirm={() => patch.run({ suspended: true })}
        onClose={() => setAsked(null)}
      >
        <p>
          Its API keys and sign-ins stop working, and its companions disappear from their websites, until you resume it.
        </p>
      </Confirm>
    );
  }
  if (asked === "stop") return <StopAccount account={account} stops={stops} onClose={() => setAsked(null)} />;
  if (asked === "delete") {
    return (
      <ConfirmDelete
        title={`Delete ${account.email}?`}
        action="Delete permanently"
        typed={{ label: `Type its email to confirm: ${account.email}`, text: account.email }}
        path={path}
        onDone={async () => {
          await onChanged(account);
          onClose();
        }}
        onClose={() => setAsked(null)}
      >
        <p>
          Its companions, conversations, keys and sessions are deleted with it. This cannot be undone; usage is kept.
        </p>
      </ConfirmDelete>
    );
  }
  if (asked !== null) {
    return <TakeAgent account={account} grant={asked} onTaken={grants.reload} onClose={() => setAsked(null)} />;
  }
  return (
    <Dialog title={account.email} onClose={onClose}>
      <div class="space-y-5">
        {account.suspended_at !== null && (
          <Notice>
            <span class="flex flex-wrap items-center justify-between gap-3">
              Suspended
              <Button isBusy={patch.isBusy} onClick={() => void patch.run({ suspended: false })}>
                Resume
              </Button>
            </span>
          </Notice>
        )}
        <AccountSpending account={account} stops={stops} />
        <PlanAndRole account={account} isOwn={isOwn} onChanged={onChanged} />
        {link ? (
          <LinkShown email={account.email} link={link} />
        ) : (
          <Button isBusy={makeLink.isBusy} onClick={() => void makeLink.run()}>
            Create password link
          </Button>
        )}
        <Problem error={error} />
        <VoiceAgents account={account} grants={grants} onRevoke={setAsked} />
        <div class="flex flex-wrap gap-2 border-t border-line pt-5 empty:hidden">
          {stops.data && stopOf(stops, account.id) === null && (
            <Button onClick={() => setAsked("stop")}>Stop spending…</Button>
          )}
          {!isOwn && account.suspended_at === null && <Button onClick={() => setAsked("suspend")}>Suspend…</Button>}
          {!isOwn && <Button onClick={() => setAsked("delete")}>Delete…</Button>}
        </div>
      </div>
    </Dialog>
  );
}
