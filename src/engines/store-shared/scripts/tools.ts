/** The tools of companions. */
import { toPage } from "../../../contracts/store/page.ts";
import type { ToolStore } from "../../../contracts/store/tools.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import { missing } from "../../../domain/errors.ts";
import type { Tool } from "../../../domain/tool.ts";
import { beforeAll } from "../rows/budgets.ts";
import { type ToolRow, toolColumns, toolFields, toTool } from "../rows/tools.ts";
import { listEmails } from "./accounts.ts";
import { changes } from "./changes.ts";
import { type CompanionState, companionStates, type HeldCompanion, ofAccount } from "./companion-states.ts";
import { ownsCompanion } from "./companions.ts";
import { holdings } from "./holdings.ts";
import { all, columns, get, run, type Script, type ScriptRunner } from "./script.ts";
import { changeTools, type ToolChanges } from "./tool-writes.ts";
import { versions } from "./versions.ts";

type Address = readonly [accountId: string, companionId: string, id: string];

const shown = columns<ToolRow>("t", toolFields);
// By id, in memory: a companion has few tools.
const selectPage = (comparison: string, order: string) => `SELECT ${shown} FROM tools t
  WHERE t.companion_id = $1 AND t.id || '' ${comparison} $2 ORDER BY t.id || '' ${order} LIMIT $3`;

export const toolQueries = {
  one: `SELECT ${shown} FROM tools t WHERE t.id = $1 AND (t.companion_id = $2) IS TRUE
    AND EXISTS (SELECT 1 FROM companions c WHERE c.id = $2 AND ${ofAccount("$3")})`,
  pages: { asc: selectPage(">", "ASC"), desc: selectPage("<", "DESC") },
  all: `SELECT ${shown} FROM tools t WHERE t.companion_id = $1 ORDER BY t.name`,
};

const discountAll = `UPDATE companions SET tool_count = 0
  WHERE id IN (SELECT companion_id FROM tools WHERE account_id = $1)`;
const selectThoseWithTools = "SELECT DISTINCT companion_id AS id FROM tools WHERE account_id = $1";
const selectHolders = `SELECT email FROM accounts WHERE id IN
  (SELECT account_id FROM tools WHERE sealed_secret <> '' OR sealed_headers IS NOT NULL) ORDER BY number LIMIT $1`;

const findRow = ([accountId, companionId, id]: Address) => get<ToolRow>(toolQueries.one, id, companionId, accountId);
function* record(context: WriteContext, action: string, [accountId, companionId, id]: Address, name: string) {
  yield* changes.record(context, { accountId, action, targetId: id, details: { companionId, name } });
}

/** What there is then. */
function* revise(
  accountId: string,
  held: HeldCompanion,
  revision: ToolChanges,
  context: WriteContext,
): Script<CompanionState> {
  const before = yield* holdings.measure(accountId, context);
  yield* changeTools(accountId, [{ held, revision }], context.nowMs);
  const after = yield* holdings.measure(accountId, context);
  const [written] = yield* versions.write(accountId, [held], context);
  yield* holdings.checkChange(accountId, { before, after }, context);
  return written?.after ?? held;
}

export function createToolStore(scripts: ScriptRunner): ToolStore {
  return {
    list: (accountId, companionId, { limit, afterId, order = "desc" }) =>
      scripts.read(function* () {
        if (!(yield* ownsCompanion(accountId, companionId))) return null;
        const rows = yield* all<ToolRow>(toolQueries.pages[order], companionId, afterId ?? beforeAll[order], limit + 1);
        return toPage(rows.map(toTool), limit);
      }),

    async find(...address) {
      const row = await scripts.read(() => findRow(address));
      return row === null ? null : toTool(row);
    },

    async listAll(companionId) {
      return (await scripts.read(() => all<ToolRow>(toolQueries.all, companionId))).map(toTool);
    },

    create: (accountId, tool, context) =>
      scripts.change(accountId, function* () {
        const { id, companionId } = tool;
        const held = yield* companionStates.lockOne(accountId, companionId);
        if (held === null) throw missing("companion");
        yield* revise(accountId, held, { toolCreates: [tool] }, context);
        yield* record(context, "tool.create", [accountId, companionId, id], tool.name);
      }),

    update: (accountId, companionId, id, revision, context) =>
      scripts.change(accountId, function* () {
        const held = yield* companionStates.lockOne(accountId, companionId);
        const current = held?.tools.find((tool) => tool.id === id);
        if (held === null || current === undefined) return null;
        const change = revision(current);
        if (Object.keys(change).length === 0) return current;
        const after = yield* revise(accountId, held, { toolUpdates: [{ id, change }] }, context);
        const tool = after.tools.find((one) => one.id === id) ?? current;
        const details = { companionId, name: tool.name, changed: listChanged(current, tool) };
        yield* changes.record(context, { accountId, action: "tool.update", targetId: id, details });
        return tool;
      }),

    delete: (accountId, companionId, id, context, check) =>
      scripts.change(accountId, function* () {
        const held = yield* companionStates.lockOne(accountId, companionId);
        const tool = held?.tools.find((one) => one.id === id);
        if (held === null || tool === undefined) return false;
        check?.(tool);
        yield* revise(accountId, held, { toolDeletes: [id] }, context);
        yield* record(context, "tool.delete", [accountId, companionId, id], tool.name);
        return true;
      }),

    listHolders: (limit) => scripts.readHeavy(() => listEmails(selectHolders, limit)),

    reset: (accountId, context) =>
      scripts.changeHeavy(accountId, function* () {
        if ((yield* changes.findAccountNumber(accountId)) === null) return false;
        const ids = (yield* all<{ id: string }>(selectThoseWithTools, accountId)).map(({ id }) => id);
        const held = yield* companionStates.lock(accountId, ids);
        yield* run(discountAll, accountId);
        yield* run("DELETE FROM tools WHERE account_id = $1", accountId);
        yield* versions.write(accountId, held, context);
        yield* changes.record(context, { accountId, action: "tool.reset", targetId: accountId, details: {} });
        return true;
      }),
  };
}

/** As the API calls them. */
const publicNames: Readonly<Record<string, string>> = {
  sealedSecret: "secret",
  sealedHeaders: "headers",
  offered: "tools",
};

function listChanged(before: Tool, after: Tool): string[] {
  const { bytes: _, headerNames: __, ...was } = toolColumns(before);
  const is = toolColumns(after);
  const fields = Object.keys(was) as (keyof typeof was)[];
  return fields.filter((field) => was[field] !== is[field]).map((field) => publicNames[field] ?? field);
}
