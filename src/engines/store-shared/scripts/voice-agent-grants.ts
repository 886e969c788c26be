/** Grants of voice agents. */
import type { VoiceAgentGrant, VoiceAgentGrantStore } from "../../../contracts/store/voice-agent-grants.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import { invalidFields } from "../../../domain/errors.ts";
import { changes } from "./changes.ts";
import { all, get, insert, run, type Script, type ScriptRunner } from "./script.ts";
import { voiceAgents } from "./voice-agents.ts";

const countCompanions = "SELECT count(*) AS companions FROM companions WHERE account_id = $1 AND voice_agent_id = $2";
const select = `SELECT g.agent_id AS "agentId", g.created_at AS "createdAt",
    (SELECT count(*) FROM companions c WHERE c.voice_agent_id = g.agent_id AND c.account_id = g.account_id) AS companions
  FROM voice_agent_grants g WHERE g.account_id = $1`;
const selectAll = `${select} ORDER BY g.created_at DESC, g.agent_id`;
const selectOne = `${select} AND g.agent_id = $2`;

const refuse = (detail: string) => invalidFields([{ param: "agent_id", detail }]);

function* record(context: WriteContext, accountId: string, action: string, grant: VoiceAgentGrant): Script<void> {
  const details = { agent_id: grant.agentId, companions: grant.companions };
  yield* changes.record(context, { accountId, action, targetId: grant.agentId, details });
}

export function createVoiceAgentGrantStore(scripts: ScriptRunner): VoiceAgentGrantStore {
  return {
    list: (accountId) => scripts.read(() => all<VoiceAgentGrant>(selectAll, accountId)),

    countCompanions: (accountId, agentId) =>
      scripts.read(function* () {
        return (yield* get<{ companions: number }>(countCompanions, accountId, agentId))?.companions ?? 0;
      }),

    grant: (accountId, agentId, context) =>
      scripts.change(accountId, function* () {
        yield* changes.requireAccount(accountId);
        yield* voiceAgents.lock([agentId]);
        if (yield* voiceAgents.isManaged(agentId)) throw refuse("The server keeps this agent for a companion.");
        const row = { accountId, agentId, createdAt: context.nowMs };
        const inserted = yield* insert("voice_agent_grants", row, "ON CONFLICT DO NOTHING");
        if (inserted === 0) throw refuse("The account already has this agent.");
        const grant = yield* get<VoiceAgentGrant>(selectOne, accountId, agentId);
        if (grant === null) throw new Error("an inserted grant is missing");
        yield* record(context, accountId, "voice_agent.grant", grant);
        return grant;
      }),

    revoke: (accountId, agentId, context) =>
      scripts.change(accountId, function* () {
        // PostgreSQL refuses NUL, so no agent that has it was granted.
        const grant = agentId.includes("\0") ? null : yield* get<VoiceAgentGrant>(selectOne, accountId, agentId);
        if (grant === null) return null;
        yield* run("DELETE FROM voice_agent_grants WHERE account_id = $1 AND agent_id = $2", accountId, agentId);
        yield* record(context, accountId, "voice_agent.revoke", grant);
        return grant;
      }),
  };
}
