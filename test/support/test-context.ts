/** Who writes to a store where a test does it past the server. */
import type { WriteContext } from "../../src/contracts/store/store.ts";
import { systemIds } from "../../src/lib/ids.ts";

export function testContext(nowMs = Date.now()): WriteContext {
  return {
    actor: { kind: "system", id: null, ipPrefix: null, requestId: null },
    nowMs,
    auditId: systemIds.uuid(),
  };
}
