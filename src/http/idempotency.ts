/** `Idempotency-Key`: a repeated management POST creates nothing again. */

import type { IdempotencySlot, IdempotentWrite, WriteContext } from "../contracts/store/store.ts";
import type { Services } from "../core/dependencies.ts";
import type { Principal } from "../domain/account.ts";
import { AppError, invalidFields, OutdatedError } from "../domain/errors.ts";
import { type ArrivedBody, type JsonBody, takeBody } from "./json-body.ts";
import { type ResponseHead, respondJsonText } from "./json-response.ts";
import { writeContext } from "./principal-guard.ts";

const headerName = "Idempotency-Key";
/** How often something is made that others changed meanwhile. */
const maxTries = 4;
const keyPattern = /^[\x20-\x7e]{1,255}$/;

/** A POST that creates something, already authenticated and within its scope. */
interface CreatingRequest<Body> {
  request: Request;
  principal: Principal;
  set: ResponseHead;
  body: JsonBody<Body>;
  /** Of the response. */
  status: number;
}

/** What a call is about to create. */
interface Creation {
  /**
   * The object in its final form: the first response and every replay. It is stored for a day, so it must contain no
   * secret.
   */
  response: object;
  /** Fields of the first response only; they are not stored. */
  secret?: object;
  /** Commits the object, together with what `context` contains. After an `OutdatedError` it is made again. */
  write(context: WriteContext): Promise<unknown>;
}

/** Gets the time and the actor of the write. */
export type Creator<Body> = (body: Body, context: WriteContext) => Creation | Promise<Creation>;

export interface Idempotency {
  /**
   * Reads the body and responds with the status and the result of `make`, or replays the response of the call that made it.
   *
   * Throws what `readJsonText` throws, `conflict` while a call with this key is running, `idempotency_mismatch` if its
   * body was different, and what `make` and its `write` throw: then nothing was created, and the key is free again.
   */
  createOnce<Body>(call: CreatingRequest<Body>, make: Creator<Body>): Promise<string>;
}

/** One per half of the routes: a slot includes the path, so halves never share one. */
export function createIdempotency(
  services: Pick<Services, "store" | "settings" | "clock" | "ids" | "log" | "uploadBodies">,
): Idempotency {
  // A crash leaves nothing of a running call: its commit either contains the response too, or nothing was created.
  const running = new Set<string>();

  return {
    async createOnce(call, make) {
      const arrived = await takeBody(services, call);
      try {
        return await create(call, arrived, make);
      } finally {
        arrived.release();
      }
    },
  };

  async function create<Body>(call: CreatingRequest<Body>, arrived: ArrivedBody, make: Creator<Body>): Promise<string> {
    const { request, principal, set, body, status } = call;
    const slot = readSlot(request, principal);

    /** `keep` turns the rendered response into what is written together with the object. */
    async function respondFirst(keep: (text: string) => IdempotentWrite | null): Promise<string> {
      const sent = body.check(await arrived.parse());
      for (let tries = 1; ; tries++) {
        const context = writeContext(services, request, principal);
        const { response, secret, write } = await make(sent, context);
        const text = JSON.stringify(response);
        const idempotent = keep(text);
        try {
          await write(idempotent === null ? context : { ...context, idempotent });
        } catch (error) {
          if (error instanceof OutdatedError && tries < maxTries) continue;
          throw error;
        }
        return respondJsonText(set, secret === undefined ? text : JSON.stringify({ ...response, ...secret }), status);
      }
    }

    if (slot === null) return await respondFirst(() => null);
    const slotName = JSON.stringify([slot.accountId, slot.method, slot.path, slot.key]);
    if (running.has(slotName)) {
      throw new AppError("conflict", `A request with this ${headerName} is still running. Try again in a moment.`, {
        retryAfterSeconds: 1,
      });
    }
    running.add(slotName);
    try {
      const bodyHash = await arrived.digest();
      const kept = await services.store.idempotency.find(slot, services.clock.nowMs());
      if (kept === null) return await respondFirst((text) => ({ slot, bodyHash, status, body: text }));
      if (kept.bodyHash !== bodyHash) {
        throw new AppError("idempotency_mismatch", `This ${headerName} was used with another body. Use a new key.`);
      }
      set.headers["idempotent-replayed"] = "true";
      return respondJsonText(set, kept.body, kept.status);
    } finally {
      running.delete(slotName);
    }
  }
}

/** The slot of the request's key, or null without one; throws `invalid_request` for a malformed key. */
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
