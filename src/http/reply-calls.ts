/**
 * Answers what clients want with a named reply that runs at this instance: the same for a visitor's own request and for
 * one that another instance passes on.
 */
import type { Services } from "../dependencies.ts";
import type { ReplyCall } from "../instances/instances.ts";

type ReplyServices = Pick<Services, "heartbeats" | "ids">;

/**
 * Null if the reply does not run here, or has just ended: the store has what is left of it. `request` is the one to
 * respond to: its signal says when the client has left. The response has headers of its own only, which may be added to.
 * Rejects with `conflict` (another message, or cancelled), `invalid_request` (the offset), `rate_limited` (too many
 * readers), or as `Turn.begin` does.
 */
export async function answerReplyCall(
  _services: ReplyServices,
  _call: ReplyCall,
  _request: Request,
): Promise<Response | null> {
  return null;
}
