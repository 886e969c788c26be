/** A companion as a test chat tries it: as it is, as its draft would make it, or as it was. */
import type { Services } from "../../core/dependencies.ts";
import type { Companion } from "../../domain/companion.ts";
import type { Tool } from "../../domain/tool.ts";
import type { ToolSettings } from "../../domain/version.ts";
import { getDraft } from "./drafts.ts";
import { getVersion, joinTools, listTools } from "./restore.ts";
import type { TestChatBody } from "./test-chat.ts";

interface Tried {
  readonly companion: Companion;
  /** Left out: those that it has. */
  readonly tools?: readonly Tool[];
  /** Null: a draft is none. */
  readonly version: number | null;
}

/** Throws `not_found` without such a draft or version. */
export async function openTried(
  services: Pick<Services, "store" | "ids">,
  companion: Companion,
  { draft, version: number, tool_results: results }: TestChatBody,
): Promise<Tried> {
  if (draft === true) {
    const { patch } = await getDraft(services, companion);
    return { companion: { ...companion, ...patch }, version: null };
  }
  if (number == null || number === companion.version) return { companion, version: companion.version };
  const version = await getVersion(services, companion, String(number));
  const { joined, gone } = joinTools(await listTools(services, companion), version.tools);
  // Nothing signs the calls of those that are gone.
  const others = results == null ? [] : gone.map((settings) => toUnsealed(services, companion, settings));
  const tools = [
    ...joined.map(({ tool, settings }) => ({ ...tool, ...settings, headerNames: tool.headerNames })),
    ...others,
  ];
  return { companion: { ...companion, ...version.settings }, tools, version: number };
}

function toUnsealed({ ids }: Pick<Services, "ids">, { id: companionId }: Companion, settings: ToolSettings): Tool {
  const sealed = { sealedHeaders: null, headerNames: [], sealedSecret: "" };
  return { ...settings, ...sealed, id: ids.uuid(), companionId, createdAt: 0, updatedAt: 0 };
}
