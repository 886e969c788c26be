import { createMemoryCoordination } from "../../src/engines/memory/coordination/memory.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { testDutiesContract } from "../contracts/coordination-duties.ts";
import { countNothing } from "../support/turn-entry.ts";

testDutiesContract("memory", async () => {
  return { duties: createMemoryCoordination({ clock: systemClock, ...countNothing }).duties, close: async () => {} };
});
