/** `Idempotency-Key`: a management POST that is sent again makes nothing again. */

import type { Services } from "../dependencies.ts";
import type { Principal } from "../domain/account.ts";
import { AppError, invalidFields } from "../domain/errors.ts";
import { sha256Hex } from "../lib/sha256.ts";
import type { IdempotencySlot, IdempotentWrite, WriteContext } from "../store/store.ts";
import { managementBodyLimitBytes, parseJson, readJsonText } from "./json-body.ts";
import { type ResponseHead, respondJson, respondJsonText } from "./json-response.ts";
import { writeContext } from "./write-context.ts";

const headerName = "Idempotency-Key";
const keyPattern = /^[\x20-\x7e]{1,255}$/;

/** A POST that makes something, authenticated and within its scope already. */
export interface CreatingCall<Made> {
  request: Request;
  principal: Principal;
  set: ResponseHead;
  /** Makes it out of the body, undefined where none was sent; the store records the answer in the commit of `context`. */
  make(body: unknown, context: WriteContext): Promise<Made>;
  /** What a replay shows: no secret, since it is kept for a day. */
  toReplay(made: Made): object;
  /** What the first answer shows, where that is more. */
  toFirst?(made: Made): object;
}

export interface Idempotency {
  /**
   * Reads the body and answers the call with 201, or replays the answer of the call that made it already.
   *
   * Throws what `readJsonText` throws, `conflict` while a call with this key runs, `idempotency_mismatch` where its body
   * was another one, and whatever `make` throws: then nothing was made, and the key is free again.
   */
  respondOnce<Made>(call: CreatingCall<Made>): Promise<string>;
}

/** One for each route group: a slot names the path, so groups never share one. */
export function createIdempotency(
  services: Pick<Services, "store" | "settings" | "clock" | "ids" | "log">,
): Idempotency {
  // What a crash leaves of a running call is nothing: either its commit holds the answer too, or it made nothing.
  const running = new Set<string>();

  async function respondFirst<Made>(
    call: CreatingCall<Made>,
    bodyText: string,
    write?: IdempotentWrite,
  ): Promise<string> {
    const body = bodyText === "" ? undefined : parseJson(bodyText);
    const made = await call.make(body, writeContext(services, call.request, call.principal, write));
    return respondJson(call.set, (call.toFirst ?? call.toReplay)(made), 201);
  }

  return {
    async respondOnce(call) {
      const bodyText = await readJsonText(call.request, managementBodyLimitBytes);
      const slot = readSlot(call.request, call.principal);
      if (slot === null) return await respondFirst(call, bodyText);
      const slotName = JSON.stringify([slot.accountId, slot.method, slot.path, slot.key]);
      if (running.has(slotName)) {
        throw new AppError("conflict", `A request with this ${headerName} is still running. Try again in a moment.`, {
          retryAfterSeconds: 1,
        });
      }
      running.add(slotName);
      try {
        const bodyHash = sha256Hex(bodyText);
        const answer = await services.store.idempotency.find(slot, services.clock.nowMs());
        if (answer === null) return await respondFirst(call, bodyText, recordOf(call, slot, bodyHash));
        if (answer.bodyHash !== bodyHash) {
          throw new AppError("idempotency_mismatch", `This ${headerName} was used with another body. Take a new key.`);
        }
        call.set.headers["idempotent-replayed"] = "true";
        return respondJsonText(call.set, answer.body, answer.status);
      } finally {
        running.delete(slotName);
      }
    },
  };
}

/** The slot of the request's key, or null where it carries none; throws `invalid_request` for a malformed one. */
export function readSlot(request: Request, principal: Principal): IdempotencySlot | null {
  const key = request.headers.get(headerName);
  if (key === null) return null;
  if (!keyPattern.test(key)) {
    throw invalidFields([{ param: headerName, detail: "Must be 1 to 255 printable ASCII characters." }]);
  }
  const { pathname } = new URL(request.url);
  const path = pathname.endsWith("/") ? pathname.slice(0, -1) : pathname;
  return { accountId: principal.account.id, method: request.method, path, key };
}

function recordOf<Made>(call: CreatingCall<Made>, slot: IdempotencySlot, bodyHash: string): IdempotentWrite {
  return {
    slot,
    bodyHash,
    // The store hands over what its create method returns, which is what `make` resolves with.
    render: (made) => ({ status: 201, body: JSON.stringify(call.toReplay(made as Made)) }),
  };
}
