/** The tools of companions. Their secrets and headers are stored sealed. */
import type { Tool } from "../../domain/tool.ts";
import type { Page, PageRequest } from "./page.ts";
import type { WriteContext } from "./write-context.ts";

/** What a PATCH sets; what is left out stays. */
export type ToolChange = Partial<
  Pick<
    Tool,
    | "name"
    | "title"
    | "target"
    | "sealedHeaders"
    | "headerNames"
    | "sealedSecret"
    | "timeoutMs"
    | "confirm"
    | "requiresVisitor"
  >
>;

/** Is given the tool inside the transaction, and may throw: then nothing changes. */
export type ToolCheck = (current: Tool) => void;
/** The same, with what changes; nothing for no change. */
export type ToolRevision = (current: Tool) => ToolChange;

export interface ToolStore {
  /** Newest first unless the page asks otherwise. Null if the account has no such companion. */
  list(accountId: string, companionId: string, page: PageRequest): Promise<Page<Tool> | null>;
  find(accountId: string, companionId: string, id: string): Promise<Tool | null>;
  /** All of the companion, by name: for a turn. Not asked for a companion whose `toolCount` is 0. */
  listAll(companionId: string): Promise<readonly Tool[]>;
  /**
   * Rejects with `not_found` if the account has no such companion, with `conflict` if it has `maxTools` already, or one of
   * that name. The companion's `toolCount` grows in the same commit. Audit: `tool.create`.
   */
  create(accountId: string, tool: Tool, context: WriteContext): Promise<void>;
  /** As changed; null if there is none. Rejects with `conflict` for another's name, or as `revise` throws. Audit: `tool.update`. */
  update(
    accountId: string,
    companionId: string,
    id: string,
    revise: ToolRevision,
    context: WriteContext,
  ): Promise<Tool | null>;
  /** Its calls stay in transcripts; those that wait for a visitor are declined. False if there is none. Audit: `tool.delete`. */
  delete(
    accountId: string,
    companionId: string,
    id: string,
    context: WriteContext,
    check?: ToolCheck,
  ): Promise<boolean>;
  /** E-mail addresses of up to `limit` accounts that have a tool with anything sealed. */
  listHolders(limit: number): Promise<string[]>;
  /**
   * Deletes the account's tools: for a server whose key is lost. Calls stay in transcripts. False if there is no such
   * account. Audit: `tool.reset`.
   */
  reset(accountId: string, context: WriteContext): Promise<boolean>;
}
