/** The other servers of the same database: passes on what concerns a reply that runs at one of them. */
import type { ConversationKey } from "../domain/conversation.ts";

/** What a client wants with a reply that it names. The guards of the first server have let it pass. */
export interface ReplyCall {
  /**
   * `attach`: the whole stream, as a repeated POST gets it. `follow`: the rest of it, with ids. `cancel`: stop it for
   * everyone.
   */
  readonly action: "attach" | "follow" | "cancel";
  readonly key: ConversationKey;
  /** Lower case. */
  readonly messageId: string;
  /** For `attach`: must be the message that runs. */
  readonly message: string | null;
  /** For `attach`: whether the reply goes on when everyone has left. */
  readonly resume: boolean;
  /** For `follow`: UTF-16 code units received so far. */
  readonly offset: number;
}

export interface OtherInstances {
  /**
   * The response of the instance at `url`, with its body streaming, headers of its own and none of the guards'. Null if
   * the reply has ended there meanwhile: the store has it, if anything is left of it. Rejects with `unavailable` and a
   * `Retry-After` of 1 if the instance does not answer, or its address is unknown. The signal ends the request.
   */
  pass(url: string | null, call: ReplyCall, signal: AbortSignal): Promise<Response | null>;
}
