/** `companiond knowledge`: what companions read. */
import { toWireSource } from "../api/knowledge/responses.ts";
import type { Store } from "../contracts/store/store.ts";
import type { Source } from "../domain/knowledge.ts";
import { formatList } from "./columns.ts";
import { type Action, type Command, CommandFailure, free } from "./command.ts";
import { companionOption, findOwner } from "./find-account.ts";
import { addAction } from "./knowledge-add.ts";

const list: Action = {
  name: "list",
  about: "Show what a companion reads, newest first.",
  data: "reads",
  options: { companion: companionOption },
  async run(input) {
    const store = await input.openStore();
    const owner = await findOwner(store, input.args.text("companion"));
    const sources = await listAll(store, owner);
    const rows = sources.map((one) => [one.title, one.type, one.status, `${one.chunks}`, one.error ?? "", one.id]);
    return {
      json: sources.map(toWireSource),
      text: formatList(["title", "type", "status", "passages", "error", "id"], rows, "The companion reads nothing."),
    };
  },
};

const remove: Action = {
  name: "delete",
  about: "Delete a source: nothing of it answers any more.",
  data: "writes",
  operands: [{ value: free("source") }],
  options: { companion: companionOption },
  async run({ args, openStore, audit }) {
    const store = await openStore();
    const { accountId, companionId } = await findOwner(store, args.text("companion"));
    const id = args.operand(0).toLowerCase();
    const isDeleted = await store.knowledge.delete(accountId, companionId, id, audit());
    if (!isDeleted) {
      throw new CommandFailure(`source not found: ${id}. "companiond knowledge list --companion <id>" shows the ids.`);
    }
    return { json: { deleted: id }, text: `Deleted the source ${id}.` };
  },
};

export const knowledgeCommand: Command = {
  name: "knowledge",
  about: "Add files, pages and sitemaps for a companion to read, and delete them.",
  actions: [addAction, list, remove],
};

async function listAll(
  { knowledge }: Store,
  { accountId, companionId }: { accountId: string; companionId: string },
): Promise<Source[]> {
  // More than a companion can have.
  const page = await knowledge.list(accountId, companionId, { limit: 1000, afterId: null });
  return page?.items ?? [];
}
