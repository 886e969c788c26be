/** Creates the context of a principal's writes: who makes the change, and from where. */

import type { Services } from "../dependencies.ts";
import type { Principal } from "../domain/account.ts";
import type { WriteContext } from "../store/store.ts";
import { clientOf } from "./client.ts";
import { contextOf } from "./request-context.ts";

export function writeContext(
  services: Pick<Services, "settings" | "clock" | "ids" | "log">,
  request: Request,
  principal: Principal,
): WriteContext {
  return {
    actor: {
      kind: principal.keyId === null ? "session" : "key",
      id: principal.keyId ?? principal.sessionId,
      ipPrefix: clientOf(services, request).logPrefix,
      requestId: contextOf(request, services.ids).requestId,
    },
    nowMs: services.clock.nowMs(),
    auditId: services.ids.uuid(),
    holdings: services.settings.holdings,
  };
}
