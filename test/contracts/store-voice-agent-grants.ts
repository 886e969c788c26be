/** What every storage engine must do with grants of voice agents. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

export function voiceAgentGrantStoreContract(open: OpenStore): void {
  describe("grants of voice agents", () => {
    let world: StoreWorld;
    let account: Account;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
    });
    afterEach(() => world.close());

    const revoke = (agentId: string, of = account) =>
      world.store.voiceAgentGrants.revoke(of.id, agentId, world.context());

    test("are listed newest first, with the companions that use them, and are audited", async () => {
      const { voiceAgentGrants, audit } = world.store;
      const other = await world.createAccount();
      expect(await voiceAgentGrants.list(account.id)).toEqual([]);
      const first = await voiceAgentGrants.grant(account.id, "agent-1", world.context());
      expect(first).toEqual({ agentId: "agent-1", companions: 0, createdAt: world.clock.nowMs() });
      world.clock.advance(1000);
      await world.grantAgent(account, "agent-2");
      await world.grantAgent(other, "agent-1");
      await world.createCompanion(account, { voiceAgentId: "agent-1" });
      await world.createCompanion(account, { voiceAgentId: "agent-1" });
      await world.createCompanion(other, { voiceAgentId: "agent-1" });
      const listed = await voiceAgentGrants.list(account.id);
      expect(listed).toMatchObject([
        { agentId: "agent-2", companions: 0 },
        { ...first, companions: 2 },
      ]);

      expect(await revoke("agent-1")).toEqual({ ...first, companions: 2 });
      expect(await revoke("agent-1")).toBeNull();
      expect(await revoke("agent-2", other)).toBeNull();
      expect(await revoke("agent-2\0")).toBeNull();
      expect((await voiceAgentGrants.list(account.id)).map(({ agentId }) => agentId)).toEqual(["agent-2"]);
      expect(await voiceAgentGrants.list(other.id)).toHaveLength(1);

      const range = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
      const { items } = await audit.list(account.id, range, firstPage);
      const ofAgents = items.filter(({ action }) => action.startsWith("voice_agent."));
      expect(ofAgents).toMatchObject([
        { action: "voice_agent.revoke", targetId: "agent-1", details: { agent_id: "agent-1", companions: 2 } },
        { action: "voice_agent.grant", targetId: "agent-2" },
        { action: "voice_agent.grant", targetId: "agent-1" },
      ]);
    });

    test("are given once, to accounts that are there, and not for agents that the server manages", async () => {
      const { voiceAgentGrants, voice } = world.store;
      await world.grantAgent(account, "agent-1");
      const refusal = { code: "invalid_request", errors: [{ param: "agent_id" }] };
      await expect(world.grantAgent(account, "agent-1")).rejects.toMatchObject(refusal);
      const companion = await world.createCompanion(account, { voiceId: "v" });
      await voice.lockAgent(companion.id, "o1", 0, 1000);
      const managed = { companionId: companion.id, provider: "p", agentId: "managed", settingsHash: "s" };
      await voice.saveAgent(managed, "o1", 500);
      await expect(world.grantAgent(account, "managed")).rejects.toMatchObject(refusal);
      const missing = voiceAgentGrants.grant(systemIds.uuid(), "agent-1", world.context());
      await expect(missing).rejects.toMatchObject({ code: "not_found" });
    });

    test("that are revoked end the voice of companions for visitors at once, and bring it back when they are given again", async () => {
      const { companions } = world.store;
      await world.grantAgent(account, "agent-1");
      const companion = await world.createCompanion(account, { voiceAgentId: "agent-1" });
      const forVisitors = async () =>
        (await companions.findByEmbedToken(companion.embedToken))?.companion.voiceAgentId ?? null;
      expect(await forVisitors()).toBe("agent-1");
      await revoke("agent-1");
      expect(await forVisitors()).toBeNull();

      // Its owner still sees what it has, and may change other things without touching it.
      expect(await companions.find(account.id, companion.id)).toMatchObject({ voiceAgentId: "agent-1" });
      for (const patch of [{ name: "Eve" }, { name: "Eva", voiceId: null, voiceAgentId: "agent-1" }]) {
        const changed = await companions.update(account.id, companion.id, patch, world.context());
        expect(changed).toMatchObject({ name: patch.name, voiceAgentId: "agent-1" });
      }
      const other = await world.createCompanion(account);
      const taken = companions.update(account.id, other.id, { voiceAgentId: "agent-1" }, world.context());
      await expect(taken).rejects.toMatchObject({ code: "invalid_request", errors: [{ param: "voice_agent_id" }] });
      expect(await forVisitors()).toBeNull();

      await world.grantAgent(account, "agent-1");
      expect(await forVisitors()).toBe("agent-1");
    });

    test("are not needed by an operator, for as long as it is one", async () => {
      const { accounts, companions, voice } = world.store;
      const operator = await world.createAccount({ role: "operator" });
      const companion = await world.createCompanion(operator, { voiceAgentId: "agent-1" });
      const forVisitors = async () => (await companions.findByEmbedToken(companion.embedToken))?.companion.voiceAgentId;
      expect(await forVisitors()).toBe("agent-1");
      await accounts.update(operator.id, { role: "owner" }, world.context());
      expect(await forVisitors()).toBeNull();
      expect(await voice.canUseAgent(operator.id, "agent-1")).toBe(false);
    });

    test("go with their account", async () => {
      await world.grantAgent(account, "agent-1");
      await world.store.accounts.delete(account.id, world.context());
      expect(await world.store.voiceAgentGrants.list(account.id)).toEqual([]);
    });
  });
}
