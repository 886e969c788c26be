/** Tables of usage, for the generator of migrations. */
import { tables } from "../tables.ts";

export const { failedReplies, quotaDaily, usageAccountDaily, usageDaily, usageMonthly, visitorDaily } = tables;
