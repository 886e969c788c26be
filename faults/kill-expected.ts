/** What was acknowledged to clients, and whether it still holds after the last kill. */
import { chat } from "../test/support/chat.ts";
import type { Client } from "./client.ts";
import type { Tally } from "./row.ts";
import { clientOfKey, inParallel, listAll } from "./world.ts";

interface AcknowledgedTurn {
  sessionId: string;
  message: string;
  reply: string;
}

export class Expected {
  static readonly faults = [
    "acknowledged replies lost",
    "replies out of order",
    "acknowledged companions lost or changed",
    "deleted companions back",
    "revoked embed tokens that open",
    "revoked keys that open",
  ] as const;

  readonly messages: AcknowledgedTurn[] = [];
  readonly companions = new Map<string, string>();
  readonly deleted = new Set<string>();
  readonly revoked = new Set<string>();
  readonly revokedKeys = new Set<string>();
  #made = 0;

  constructor(readonly companion: { id: string; token: string }) {}

  nextMessage(): string {
    return `number ${this.#made++}`;
  }

  oneOfCompanions(hint: number): string | undefined {
    let left = hint * 7;
    for (const id of this.companions.keys()) if (left-- <= 0 || this.companions.size <= hint * 7) return id;
    return undefined;
  }

  async verify(client: Client, tally: Tally): Promise<void> {
    await this.#verifyMessages(client, tally);
    await this.#verifyCompanions(client, tally);
    for (const token of this.revoked) {
      const { status } = await client.send({ method: "GET", path: `/api/embed/${token}` });
      if (status !== 404) tally.fault("revoked embed tokens that open", `${status}`);
    }
    for (const key of this.revokedKeys) {
      const { status } = await clientOfKey(client.url, tally, key).send({ method: "GET", path: "/api/companions" });
      if (status !== 401) tally.fault("revoked keys that open", `${status}`);
    }
    tally.did("revocations acknowledged", this.revoked.size + this.revokedKeys.size);
    const alive = await chat(client.url, this.companion.token, { message: "Still there?" });
    tally.equal("chats that work afterwards", alive.isDone ? 1 : 0, 1);
  }

  async #verifyMessages(client: Client, tally: Tally): Promise<void> {
    const bySession = Map.groupBy(this.messages, (turn) => turn.sessionId);
    const path = `/api/companions/${this.companion.id}/conversations`;
    const kept = await listAll(client, path);
    const places = new Map<unknown, unknown>();
    for (const one of kept) places.set(one.session_id, one.id);
    let messages = 0;
    await inParallel(kept, 8, async (one) => {
      const { json } = await client.send({ method: "GET", path: `/api/conversations/${one.id}` });
      const list = json.messages as { role: string; text: string; complete: boolean }[];
      messages += list.filter(({ role }) => role === "user").length;
      let last = -1;
      for (const turn of bySession.get(String(one.session_id)) ?? []) {
        const place = list.findIndex(({ role, text }) => role === "user" && text === turn.message);
        const reply = list[place + 1];
        if (place === -1 || reply?.text !== turn.reply || !reply.complete) {
          tally.fault("acknowledged replies lost", turn.message);
        }
        if (place < last) tally.fault("replies out of order", turn.message);
        last = place;
      }
    });
    for (const [sessionId, turns] of bySession) {
      if (places.has(sessionId)) continue;
      for (const turn of turns) tally.fault("acknowledged replies lost", turn.message);
    }
    tally.did("conversations read back", kept.length);
    // A commit is all or nothing: message, reply, usage and quota.
    const usage = await client.send({ method: "GET", path: `/api/usage?companion_id=${this.companion.id}` });
    const counted = usage.json.data.reduce((sum, row) => sum + Number(row.messages), 0);
    tally.equal("messages in usage, as many as are kept", counted, messages);
  }

  async #verifyCompanions(client: Client, tally: Tally): Promise<void> {
    const there = new Map((await listAll(client, "/api/companions")).map((one) => [one.id, one]));
    for (const [id, name] of this.companions) {
      const found = there.get(id);
      if (found?.name !== name) tally.fault("acknowledged companions lost or changed", `${name}: ${found?.name}`);
    }
    for (const id of this.deleted) if (there.has(id)) tally.fault("deleted companions back", id);
    tally.did("companions acknowledged", this.companions.size);
    tally.did("deletions acknowledged", this.deleted.size);
  }
}
