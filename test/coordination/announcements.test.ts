import { createMemoryAnnouncements } from "../../src/engines/memory/announcements.ts";
import { testAnnouncementsContract } from "../contracts/announcements.ts";

testAnnouncementsContract("memory", async () => {
  return { here: createMemoryAnnouncements(), others: [], close: async () => {} };
});
