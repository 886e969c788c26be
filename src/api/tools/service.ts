/** What an account can do with the tools of its companions; everything is found within the account. */
import type { WriteContext } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import { type FieldError, invalidFields, missing, readId } from "../../domain/errors.ts";
import { builtInPrefix, sealedAs, type Tool, type ToolTarget } from "../../domain/tool.ts";
import { explainSecret, omitReadOnly, pickSound } from "../../http/schemas/named-object.ts";
import { findKind, listToolChanges, toToolSettings } from "../../http/schemas/tool-changes.ts";
import { findFaults } from "../../http/schemas/tool-faults.ts";
import { newToolBody, type ToolPatchBody, toolPatchBody } from "../../http/schemas/tool-settings.ts";
import { makeWebhookSecret } from "../../lib/standard-webhooks.ts";
import { ToolObject } from "./responses.ts";

type ToolServices = Pick<Services, "store" | "ids" | "sealing" | "outgoing" | "toolbox">;
type Kind = ToolTarget["type"];

/** What is about to be made; `write` commits it. */
export interface PreparedTool {
  made: Tool;
  secret: string;
  write(context: WriteContext): Promise<unknown>;
}

/** Throws `not_found`. */
export async function getTool(
  { store }: Pick<Services, "store">,
  accountId: string,
  companionId: string,
  id: string,
): Promise<Tool> {
  const tool = await store.tools.find(accountId, readId(companionId, "companion"), readId(id, "tool"));
  if (tool === null) throw missing("tool");
  return tool;
}

export async function prepareTool(
  services: ToolServices,
  accountId: string,
  companionId: string,
  sent: unknown,
  nowMs: number,
): Promise<PreparedTool> {
  const { store, ids } = services;
  const settable = omitReadOnly(sent, newToolBody, ToolObject);
  const errors = newToolBody.listErrors(settable).map(explainSecret);
  if (errors.some(({ param }) => param === "")) newToolBody.check(settable);
  const unchecked = settable as ToolPatchBody;
  const kind = findKind(unchecked);
  if (kind === null) {
    const detail = unchecked.url == null ? "Set either this or mcp_url." : "Not together with mcp_url.";
    errors.push({ param: "url", detail });
  }
  await addFaults(services, unchecked, kind ?? "http", errors);
  const body = newToolBody.check(settable);
  const id = ids.uuid();
  const secret = makeWebhookSecret(ids.bytes);
  const made: Tool = {
    ...{ id, companionId },
    ...toToolSettings(body, kind ?? "http"),
    ...(await sealHeaders(services, id, body.headers ?? {})),
    sealedSecret: await services.sealing.seal(sealedAs.secret(id), secret),
    ...{ createdAt: nowMs, updatedAt: nowMs },
  };
  return { made, secret, write: (context) => store.tools.create(accountId, made, context) };
}

/** `check` is what `If-Match` asks for. Without a change, neither `updated_at` nor the audit log changes. */
export async function updateTool(
  services: ToolServices,
  accountId: string,
  current: Tool,
  { sent, check }: { sent: unknown; check: ((tool: Tool) => void) | undefined },
  context: WriteContext,
): Promise<Tool> {
  const settable = omitReadOnly(sent, toolPatchBody, ToolObject);
  const errors = toolPatchBody.listErrors(settable).map(explainSecret);
  if (errors.some(({ param }) => param === "")) toolPatchBody.check(settable);
  const kind = current.target.type;
  const [own, other] = kind === "http" ? (["url", "mcp_url"] as const) : (["mcp_url", "url"] as const);
  const { url: currentUrl } = current.target;
  const isBuiltIn = currentUrl.startsWith(builtInPrefix);
  const { url, ...others } = settable as ToolPatchBody;
  // What is read can be sent back.
  const unchecked: ToolPatchBody = isBuiltIn && url === currentUrl ? others : (settable as ToolPatchBody);
  if (unchecked[own] === null || unchecked[other] != null || (isBuiltIn && unchecked.url !== undefined)) {
    const param = unchecked[other] != null ? other : own;
    errors.push({ param, detail: "A tool stays what it is: add another one, and delete this." });
  }
  await addFaults(services, unchecked, kind, errors);
  const body = toolPatchBody.check(settable);
  const { headers } = body;
  const sealed = headers === undefined ? {} : await sealHeaders(services, current.id, headers ?? {});
  const updated = await services.store.tools.update(
    ...([accountId, current.companionId, current.id] as const),
    (tool) => {
      check?.(tool);
      return { ...listToolChanges(tool, body), ...(headers === undefined || hasNone(tool, sealed) ? {} : sealed) };
    },
    context,
  );
  if (updated === null) throw missing("tool");
  services.toolbox.forget(updated.id);
  return updated;
}

/** Calls are signed with the new secret from the next one on. */
export async function rotateSecret(
  { store, ids, sealing }: ToolServices,
  accountId: string,
  { companionId, id }: Tool,
  context: WriteContext,
): Promise<{ tool: Tool; secret: string }> {
  const secret = makeWebhookSecret(ids.bytes);
  const sealedSecret = await sealing.seal(sealedAs.secret(id), secret);
  const tool = await store.tools.update(accountId, companionId, id, () => ({ sealedSecret }), context);
  if (tool === null) throw missing("tool");
  return { tool, secret };
}

/** Throws `invalid_request` with all that is wrong, if anything is. */
async function addFaults(
  { outgoing }: ToolServices,
  body: ToolPatchBody,
  kind: Kind,
  errors: readonly FieldError[],
): Promise<void> {
  const faults = await findFaults(pickSound<ToolPatchBody>(body, errors), kind, (url) => outgoing.findFault(url));
  if (errors.length + faults.length > 0) throw invalidFields([...errors, ...faults]);
}

async function sealHeaders({ sealing }: ToolServices, toolId: string, headers: Readonly<Record<string, string>>) {
  const headerNames = Object.keys(headers);
  if (headerNames.length === 0) return { sealedHeaders: null, headerNames };
  return { sealedHeaders: await sealing.seal(sealedAs.headers(toolId), JSON.stringify(headers)), headerNames };
}

/** What is sealed cannot be compared, but for nothing. */
function hasNone(tool: Tool, { sealedHeaders }: { sealedHeaders?: string | null }): boolean {
  return tool.sealedHeaders === null && sealedHeaders === null;
}
