/** The tools of companions. */
import { toPage } from "../../../contracts/store/page.ts";
import type { ToolStore } from "../../../contracts/store/tools.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import { AppError } from "../../../domain/errors.ts";
import { missing } from "../../../domain/resource-id.ts";
import { maxTools, type Tool } from "../../../domain/tool.ts";
import { toLaterMs } from "../../../lib/clock.ts";
import { beforeAll } from "../rows/budgets.ts";
import { type ToolRow, toolColumns, toTool } from "../rows/tools.ts";
import { changes } from "./changes.ts";
import { ofAccount, ownsCompanion, selectOwned } from "./companions.ts";
import { holdings } from "./holdings.ts";
import { all, columns, get, insert, run, type Script, type ScriptRunner } from "./script.ts";

type Address = readonly [accountId: string, companionId: string, id: string];

const shown = columns<ToolRow>("t", [
  ...(["id", "companionId", "name", "title", "type", "url", "description", "parameters", "offered"] as const),
  ...(["sealedHeaders", "headerNames", "sealedSecret", "timeoutMs", "confirm", "requiresVisitor"] as const),
  ...(["createdAt", "updatedAt"] as const),
]);
// By id, in memory: a companion has few tools.
const selectPage = (comparison: string, order: string) => `SELECT ${shown} FROM tools t
  WHERE t.companion_id = $1 AND t.id || '' ${comparison} $2 ORDER BY t.id || '' ${order} LIMIT $3`;

export const toolQueries = {
  one: `SELECT ${shown} FROM tools t WHERE t.id = $1 AND (t.companion_id = $2) IS TRUE
    AND EXISTS (SELECT 1 FROM companions c WHERE c.id = $2 AND ${ofAccount("$3")})`,
  pages: { asc: selectPage(">", "ASC"), desc: selectPage("<", "DESC") },
  all: `SELECT ${shown} FROM tools t WHERE t.companion_id = $1 ORDER BY t.name`,
};

// Whoever deletes the companion waits, or comes first.
const lockCompanion = `${selectOwned} FOR NO KEY UPDATE`;
const selectNames = "SELECT id, name FROM tools WHERE companion_id = $1";
const countTool = "UPDATE companions SET tool_count = tool_count + 1, had_tools = true WHERE number = $1";
const discountTool = "UPDATE companions SET tool_count = tool_count - 1 WHERE number = $1";
const updateOne = `UPDATE tools SET name = $2, title = $3, url = $4, description = $5, parameters = $6, offered = $7,
    sealed_headers = $8, header_names = $9, sealed_secret = $10, timeout_ms = $11, confirm = $12, requires_visitor = $13,
    bytes = $14, updated_at = $15
  WHERE id = $1`;
const declineWaiting = "UPDATE tool_calls SET state = 'declined' WHERE tool_id = $1 AND state = 'waiting'";
const discountAll = `UPDATE companions SET tool_count = 0
  WHERE id IN (SELECT companion_id FROM tools WHERE account_id = $1)`;
const selectHolders = `SELECT email FROM accounts WHERE id IN
  (SELECT account_id FROM tools WHERE sealed_secret <> '' OR sealed_headers IS NOT NULL) ORDER BY number LIMIT $1`;

const findRow = ([accountId, companionId, id]: Address) => get<ToolRow>(toolQueries.one, id, companionId, accountId);
const lockOwned = ([accountId, companionId]: Address) => get<{ number: number }>(lockCompanion, companionId, accountId);

/** Throws `conflict`. */
function* requireName(companionId: string, { id, name }: Pick<Tool, "id" | "name">): Script<number> {
  const tools = yield* all<{ id: string; name: string }>(selectNames, companionId);
  const others = tools.filter((tool) => tool.id !== id);
  if (others.some((other) => other.name === name)) {
    throw new AppError("conflict", `The companion has a tool named ${name} already.`);
  }
  return others.length;
}

function* record(context: WriteContext, action: string, [accountId, companionId, id]: Address, name: string) {
  yield* changes.record(context, { accountId, action, targetId: id, details: { companionId, name } });
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
        const address = [accountId, companionId, id] as const;
        const owned = yield* lockOwned(address);
        if (owned === null) throw missing("companion");
        if ((yield* requireName(companionId, tool)) >= maxTools) {
          throw new AppError("conflict", `A companion has at most ${maxTools} tools. Delete one first.`);
        }
        const { createdAt, updatedAt } = tool;
        yield* insert("tools", { id, accountId, companionId, ...toolColumns(tool), createdAt, updatedAt });
        yield* run(countTool, owned.number);
        yield* holdings.checkGrowth(accountId, 0, context);
        yield* record(context, "tool.create", address, tool.name);
      }),

    update: (accountId, companionId, id, revise, context) =>
      scripts.change(accountId, function* () {
        const address = [accountId, companionId, id] as const;
        const row = (yield* lockOwned(address)) === null ? null : yield* findRow(address);
        if (row === null) return null;
        const current = toTool(row);
        const change = revise(current);
        if (Object.keys(change).length === 0) return current;
        const tool = { ...current, ...change, updatedAt: toLaterMs(context.nowMs, current.updatedAt) };
        if (tool.name !== current.name) yield* requireName(companionId, tool);
        const bytesBefore = yield* holdings.measure(accountId, context);
        const { type: _, ...stored } = toolColumns(tool);
        const { name, title, url, description, parameters, offered, sealedHeaders, headerNames } = stored;
        const { sealedSecret, timeoutMs, confirm, requiresVisitor, bytes } = stored;
        yield* run(
          ...([updateOne, id, name, title, url, description, parameters, offered, sealedHeaders, headerNames] as const),
          ...([sealedSecret, timeoutMs, confirm, requiresVisitor, bytes, tool.updatedAt] as const),
        );
        yield* holdings.checkGrowth(accountId, bytesBefore, context);
        const details = { companionId, name, changed: listChanged(current, tool) };
        yield* changes.record(context, { accountId, action: "tool.update", targetId: id, details });
        return tool;
      }),

    delete: (accountId, companionId, id, context, check) =>
      scripts.change(accountId, function* () {
        const address = [accountId, companionId, id] as const;
        const owned = yield* lockOwned(address);
        const row = owned === null ? null : yield* findRow(address);
        if (owned === null || row === null) return false;
        check?.(toTool(row));
        yield* run("DELETE FROM tools WHERE id = $1", id);
        yield* run(discountTool, owned.number);
        yield* run(declineWaiting, id);
        yield* record(context, "tool.delete", address, row.name);
        return true;
      }),

    async listHolders(limit) {
      const rows = await scripts.readHeavy(() => all<{ email: string }>(selectHolders, limit));
      return rows.map(({ email }) => email);
    },

    reset: (accountId, context) =>
      scripts.changeHeavy(accountId, function* () {
        if ((yield* changes.findAccountNumber(accountId)) === null) return false;
        yield* run(discountAll, accountId);
        yield* run("DELETE FROM tools WHERE account_id = $1", accountId);
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
