/** Who writes to a store where a test does it past the server. */
import { systemIds } from "../../src/lib/ids.ts";
import type { WriteContext } from "../../src/store/store.ts";

export function testContext(nowMs = Date.now()): WriteContext {
  return {
    actor: { kind: "system", id: null, ipPrefix: null, requestId: null },
    nowMs,
    auditId: systemIds.uuid(),
  };
}
