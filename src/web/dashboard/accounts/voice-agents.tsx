/** Which agents of the voice provider an account may use: an operator grants and takes them. */
import { useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { type Loaded, useAction } from "../lib/load.ts";
import type { Account, Page, VoiceAgentGrant } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmDelete } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { Pending, Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

export type LoadedGrants = Loaded<Page<VoiceAgentGrant>>;

interface VoiceAgentsProps {
  account: Account;
  grants: LoadedGrants;
  onRevoke(grant: VoiceAgentGrant): void;
}

export function VoiceAgents({ account, grants, onRevoke }: VoiceAgentsProps) {
  const [agentId, setAgentId] = useState("");
  const add = useAction(async () => {
    await call("POST", `/api/accounts/${account.id}/voice-agents`, { body: { agent_id: agentId.trim() } });
    setAgentId("");
    say("Granted.");
    await grants.reload();
  });
  return (
    <section aria-label="Voice agents" class="border-t border-line pt-5">
      <h3 class="font-medium">Voice agents</h3>
      <p class="mt-0.5 text-14 text-muted">
        {account.role === "operator"
          ? "Operators can use every agent of the voice provider without a grant."
          : "Agents of the voice provider that this account's companions can use."}
      </p>
      {grants.data === null ? (
        <Pending of={grants} lines={1} class="mt-3" />
      ) : (
        <ul class="mt-3 space-y-2">
          {grants.data.data.map((grant) => (
            <li key={grant.agent_id} class="flex items-center justify-between gap-3">
              <span class="min-w-0">
                <code class="block font-mono text-13 wrap-anywhere">{grant.agent_id}</code>
                <span class="text-13 text-muted">{usedBy(grant)}</span>
              </span>
              <Button onClick={() => onRevoke(grant)}>
                Revoke access…<span class="sr-only"> {grant.agent_id}</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
      <form
        class="mt-3"
        onSubmit={(event) => {
          event.preventDefault();
          // The button is about to be disabled, and a dialog without a focused element gets no key events.
          event.currentTarget.querySelector("input")?.focus();
          void add.run();
        }}
      >
        <div class="flex items-end gap-2">
          <TextField
            class="flex-1"
            label="Agent ID"
            isCode
            value={agentId}
            onValue={setAgentId}
            placeholder="agent_01jxyz"
          />
          <Button type="submit" isBusy={add.isBusy} disabled={agentId.trim() === ""}>
            Grant
          </Button>
        </div>
        <Problem error={add.error} field="agent_id" class="mt-3" />
      </form>
    </section>
  );
}

function usedBy({ companions }: VoiceAgentGrant): string {
  if (companions === 0) return "used by no companion";
  return companions === 1 ? "used by 1 companion" : `used by ${companions} companions`;
}

interface TakeAgentProps {
  account: Account;
  grant: VoiceAgentGrant;
  onTaken(): Promise<void>;
  onClose(): void;
}

export function TakeAgent({ account, grant, onTaken, onClose }: TakeAgentProps) {
  const { agent_id, companions } = grant;
  return (
    <ConfirmDelete
      title={`Take ${agent_id} from ${account.email}?`}
      action="Revoke access"
      path={`/api/accounts/${account.id}/voice-agents/${encodeURIComponent(agent_id)}`}
      done="Access revoked."
      onDone={onTaken}
      onClose={onClose}
    >
      <p>{consequence(account, companions)}</p>
    </ConfirmDelete>
  );
}

function consequence({ role }: Account, companions: number): string {
  if (role === "operator") return "As an operator's account, it can still use the agent.";
  if (companions === 0) return "No companion uses it.";
  const whose = companions === 1 ? "The companion that uses it has" : `The ${companions} companions that use it have`;
  return `${whose} no voice from the next visitor on. They keep the setting, and speak again once it is granted again.`;
}
