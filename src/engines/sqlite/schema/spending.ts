/** Tables of spending, for the generator of migrations. */
import { tables } from "../tables.ts";

export const { budgetPeriods, budgets, spendingReservations, spendingStops, spentChallenges, usageLabels } = tables;
