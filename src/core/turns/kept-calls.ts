/** The calls of tools in a turn of a conversation, kept with the reply that they belong to. */
import type { CallEnd } from "../../contracts/store/store.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import { AppError } from "../../domain/errors.ts";
import { confirmableMs, type ToolCall } from "../../domain/tool.ts";
import type { Services } from "../dependencies.ts";
import type { CallStorage, DecidedCall, TurnStart } from "./turn-start.ts";

export class KeptCalls implements CallStorage {
  /** What the turn's messages are to be called: calls are kept before they are. Null as long as there are none. */
  ids: { readonly questionId: string; readonly replyId: string } | null = null;
  /** Whether there is a reply even without a word: something was called, or decided on. */
  hasAny = false;

  constructor(
    private readonly services: Pick<Services, "store" | "clock" | "ids">,
    private readonly key: ConversationKey,
    private readonly messageId: string | null,
  ) {}

  async begin(calls: readonly ToolCall[]): Promise<void> {
    const { ids, store } = this.services;
    // In this order, which is theirs in the conversation.
    this.ids ??= { questionId: ids.uuid(), replyId: ids.uuid() };
    await store.toolCalls.begin({ key: this.key, replyId: this.ids.replyId, messageId: this.messageId }, calls);
    this.hasAny = true;
  }

  finish(id: string, end: CallEnd): Promise<void> {
    return this.services.store.toolCalls.finish(id, end);
  }

  async adopt(): Promise<boolean> {
    if (this.messageId === null) return false;
    const [left] = await this.services.store.toolCalls.listOfMessage(this.key, this.messageId);
    if (left === undefined) return false;
    this.ids = { questionId: this.services.ids.uuid(), replyId: left.replyId };
    this.hasAny = true;
    return true;
  }

  async decide({ callId, isApproved }: NonNullable<TurnStart["decision"]>): Promise<DecidedCall> {
    const { store, clock } = this.services;
    const sinceMs = clock.nowMs() - confirmableMs;
    const decision = await store.toolCalls.decide(callId, this.key, { isApproved, sinceMs });
    if (decision.outcome === "missing") throw new AppError("not_found", "There is no such call to decide on.");
    if (decision.outcome === "over") {
      throw new AppError(
        "conflict",
        "This was decided on before, or asked for too long ago. Ask again if you still want it.",
      );
    }
    this.hasAny = true;
    const { call } = decision;
    const { replyId } = call.reply;
    return {
      call,
      isSent: decision.outcome === "running",
      calls: (await store.toolCalls.listOfReplies([replyId])).get(replyId) ?? [call],
    };
  }
}
