/**
 * Takes calls of other instances about replies that run here. None of the routes: for a caller that cannot prove to be an
 * instance, there is nothing at this address.
 */
import { Type as t } from "@sinclair/typebox";
import type { Services } from "../../core/dependencies.ts";
import { callPath, endedStatus, proofHeader, type ReplyCall } from "../../core/instances/instances.ts";
import { createPieceWriter, proveHead } from "../../core/instances/proven-pieces.ts";
import { describeFailure } from "../../http/error-handling.ts";
import { parseJson, readJsonText } from "../../http/json-body.ts";
import { toAppError } from "../../http/problem.ts";
import { messageText } from "../../http/schemas/chat-message.ts";
import { compileChecker, Nullable, Nullish, Text, uuidPattern } from "../../http/schemas/schema.ts";
import { sha256Hex } from "../../lib/sha256.ts";

/** The sender is proven to be an instance, but perhaps of another version. */
const uuid = () => Text({ pattern: uuidPattern });

const replyCall = compileChecker(() =>
  t.Object({
    action: t.Union([t.Literal("attach"), t.Literal("follow"), t.Literal("cancel")]),
    key: t.Object({ companionId: uuid(), sessionId: uuid(), visitorId: Nullable(Text({ maxLength: 100 })) }),
    messageId: uuid(),
    message: Nullable(messageText()),
    resume: t.Boolean(),
    offset: t.Integer({ minimum: 0 }),
    // Of a version that knows of them.
    sources: Nullish(t.Union([t.Literal("cited"), t.Literal("seen")])),
  }),
);

/** Throws `invalid_request`. */
function checkReplyCall(value: unknown): ReplyCall {
  const call = replyCall.check(value);
  // A reply that runs here has its own events.
  return { ...call, sources: call.sources ?? null, hasTools: false };
}

/** A message of 2000 characters in its longest form. */
const bodyLimitBytes = 32 * 1024;

/**
 * What this instance itself does with a call: a stream of events or 204; null if it does not run the reply. All of the
 * stream has gone through `seal`. Throws what is reported to the client.
 */
export type AnswerCall = (
  call: ReplyCall,
  request: Request,
  seal: (text: string) => string,
) => Promise<Response | null>;

export interface InstanceEndpoint {
  readonly path: string;
  /** Null if the request is not an instance's. Never rejects, and reads no body before the proof is good. */
  open(request: Request): Promise<OpenedCall | null>;
}

export interface OpenedCall {
  /** Never rejects. */
  respond(): Promise<Response>;
}

export function createInstanceEndpoint(
  services: Pick<Services, "instances" | "settings" | "ids" | "log">,
  answer: AnswerCall,
): InstanceEndpoint {
  async function find(request: Request): Promise<OpenedCall | null> {
    const proven = await services.instances.check("POST", callPath, request.headers.get(proofHeader));
    if (proven === null) return null;
    const text = await readJsonText(request, bodyLimitBytes);
    if (sha256Hex(text) !== proven.bodyHash) return null;
    return { respond: () => respond(text, request, proven.answerKey) };
  }

  async function respond(text: string, request: Request, key: string): Promise<Response> {
    const response = await makeResponse(text, request, key);
    response.headers.set(proofHeader, proveHead(key, response.status, response.headers.get("retry-after")));
    return response;
  }

  async function makeResponse(text: string, request: Request, key: string): Promise<Response> {
    try {
      const response = await answer(checkReplyCall(parseJson(text)), request, createPieceWriter(key));
      return response ?? new Response(null, { status: endedStatus });
    } catch (error) {
      const { body, status, headers } = describeFailure(services, toAppError(error), request);
      // Another writer: this is the first piece, whatever a stream that failed has been given.
      return new Response(createPieceWriter(key)(body ?? ""), { status, headers: headers as Record<string, string> });
    }
  }

  return { path: callPath, open: (request) => find(request).catch(() => null) };
}
