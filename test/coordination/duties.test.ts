import { createMemoryCoordination } from "../../src/coordination/memory.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { testDutiesContract } from "../contracts/coordination-duties.ts";

testDutiesContract("memory", async () => {
  const countNothing = async () => 0;
  const options = { clock: systemClock, countMessages: countNothing, countVoiceSessions: countNothing };
  return { duties: createMemoryCoordination(options).duties, close: async () => {} };
});
