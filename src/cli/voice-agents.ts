/** `companiond account grant-agent`, `revoke-agent` and `list-agents`: which accounts may use which voice agents. */
import { newGrantBody } from "../api/accounts/model.ts";
import { toWireGrant } from "../api/accounts/responses.ts";
import type { VoiceAgentGrant } from "../contracts/store/store.ts";
import type { Account } from "../domain/account.ts";
import { toRfc3339 } from "../lib/clock.ts";
import { formatList } from "./columns.ts";
import { type Action, CommandFailure, free } from "./command.ts";
import { openAccount } from "./find-account.ts";

const grant: Action = {
  name: "grant-agent",
  about: "Let an account's companions use an agent of the voice provider.",
  data: "writes",
  operands: [{ value: free("email") }, { value: free("agent") }],
  async run(input) {
    const { agent_id } = newGrantBody.check({ agent_id: input.args.operand(1) });
    const { store, account } = await openAccount(input, input.args.operand(0));
    const made = await store.voiceAgentGrants.grant(account.id, agent_id, input.audit());
    return {
      json: { email: account.email, ...toWireGrant(made) },
      text: `${account.email} may use the voice agent ${agent_id} from now on.`,
    };
  },
};

const revoke: Action = {
  name: "revoke-agent",
  about: "Revoke an account's voice agent: companions that use it lose their voice immediately.",
  data: "writes",
  operands: [{ value: free("email") }, { value: free("agent") }],
  async run(input) {
    const agentId = input.args.operand(1);
    const { store, account } = await openAccount(input, input.args.operand(0));
    const taken = await store.voiceAgentGrants.revoke(account.id, agentId, input.audit());
    if (taken === null) {
      throw new CommandFailure(
        `${account.email} has no voice agent ${agentId}. "companiond account list-agents <email>" shows what it has.`,
      );
    }
    return { json: { email: account.email, ...toWireGrant(taken) }, text: describeRevoked(account, taken) };
  },
};

const list: Action = {
  name: "list-agents",
  about: "Show the voice agents that an account may use, newest first.",
  data: "reads",
  operands: [{ value: free("email") }],
  async run(input) {
    const { store, account } = await openAccount(input, input.args.operand(0));
    const grants = await store.voiceAgentGrants.list(account.id);
    const rows = grants.map((one) => [one.agentId, String(one.companions), toRfc3339(one.createdAt)]);
    const none =
      account.role === "operator"
        ? `${account.email} is an operator: it may use every agent.`
        : `${account.email} has no voice agents.`;
    return { json: grants.map(toWireGrant), text: formatList(["agent", "companions", "granted"], rows, none) };
  },
};

function describeRevoked({ email, role }: Account, { agentId, companions }: VoiceAgentGrant): string {
  if (role === "operator") return `The grant is revoked. As an operator, ${email} may still use the voice agent.`;
  const verdict = `${email} may no longer use the voice agent ${agentId}.`;
  if (companions === 0) return verdict;
  const whose = companions === 1 ? "The companion that uses it has" : `The ${companions} companions that use it have`;
  return `${verdict}\n${whose} no voice from now on.`;
}

export const voiceAgentActions: readonly Action[] = [grant, revoke, list];
