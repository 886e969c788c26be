/** Tools as changes of companions write them: call it inside a write that has locked the companion. */
import type { CompanionRevision } from "../../../contracts/store/versions.ts";
import { AppError, missing } from "../../../domain/errors.ts";
import { maxTools, type Tool } from "../../../domain/tool.ts";
import { toLaterMs } from "../../../lib/clock.ts";
import { toolColumns } from "../rows/tools.ts";
import type { HeldCompanion } from "./companion-states.ts";
import { insertAll, run, runAll, type Script } from "./script.ts";

const updateOne = `UPDATE tools SET name = $2, title = $3, url = $4, description = $5, parameters = $6, offered = $7,
    sealed_headers = $8, header_names = $9, sealed_secret = $10, timeout_ms = $11, confirm = $12, requires_visitor = $13,
    bytes = $14, updated_at = $15
  WHERE id = $1`;
const deleteMany = "DELETE FROM tools WHERE id = ANY ($1::text[])";
const declineWaiting =
  "UPDATE tool_calls SET state = 'declined' WHERE tool_id = ANY ($1::text[]) AND state = 'waiting'";
const countAgain = `UPDATE companions SET had_tools = had_tools OR EXISTS (SELECT 1 FROM tools t WHERE t.companion_id = companions.id),
    tool_count = (SELECT count(*) FROM tools t WHERE t.companion_id = companions.id)
  WHERE id = ANY ($1::text[])`;

export type ToolChanges = Pick<CompanionRevision, "toolCreates" | "toolUpdates" | "toolDeletes">;

/** Throws `conflict` for more tools than a companion has, and for a name that two of them have. */
function requireList(after: readonly Tool[], adds: boolean): void {
  if (adds && after.length > maxTools) {
    throw new AppError("conflict", `A companion has at most ${maxTools} tools. Delete one first.`);
  }
  const names = after.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new AppError("conflict", `The companion has a tool named ${twice} already.`);
}

function toUpdate(tool: Tool): Parameters<typeof run>[1][] {
  const { type: _, ...stored } = toolColumns(tool);
  const { name, title, url, description, parameters, offered, sealedHeaders, headerNames } = stored;
  const { sealedSecret, timeoutMs, confirm, requiresVisitor, bytes } = stored;
  return [
    ...[tool.id, name, title, url, description, parameters, offered, sealedHeaders, headerNames],
    ...[sealedSecret, timeoutMs, confirm, requiresVisitor, bytes, tool.updatedAt],
  ];
}

/** Of many companions; their numbers of tools follow. Throws `conflict`, and `not_found` for what is not there. */
export function* changeTools(
  accountId: string,
  many: readonly { held: HeldCompanion; revision: ToolChanges }[],
  nowMs: number,
): Script<void> {
  const [created, updated, deleted, counted]: [Tool[], Tool[], string[], string[]] = [[], [], [], []];
  for (const { held, revision } of many) {
    const { toolCreates = [], toolUpdates = [], toolDeletes = [] } = revision;
    const tools = new Map(held.tools.map((tool) => [tool.id, tool]));
    for (const id of toolDeletes) if (!tools.delete(id)) throw missing("tool");
    for (const { id, change } of toolUpdates) {
      const current = tools.get(id);
      if (current === undefined) throw missing("tool");
      const tool = { ...current, ...change, updatedAt: toLaterMs(nowMs, current.updatedAt) };
      tools.set(id, tool);
      updated.push(tool);
    }
    requireList([...tools.values(), ...toolCreates], toolCreates.length > 0);
    created.push(...toolCreates);
    deleted.push(...toolDeletes);
    if (toolCreates.length + toolDeletes.length > 0) counted.push(held.companion.id);
  }
  if (deleted.length > 0) {
    yield* run(deleteMany, deleted);
    yield* run(declineWaiting, deleted);
  }
  if (updated.length > 0) yield* runAll(updateOne, updated.map(toUpdate));
  const rows = created.map((tool) => {
    const { id, companionId, createdAt, updatedAt } = tool;
    return { id, accountId, companionId, ...toolColumns(tool), createdAt, updatedAt };
  });
  yield* insertAll("tools", rows);
  if (counted.length > 0) yield* run(countAgain, counted);
}
