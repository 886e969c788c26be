/** How many of the operator's stops there are, for metrics: read from the store when they are scraped. */
import type { Store } from "../../contracts/store/store.ts";
import type { Probe } from "../../lib/probe.ts";

export function createSpendingProbe({ spending }: Pick<Store, "spending">): Probe {
  return {
    name: "companiond_spending_stops",
    help: "Stops by the operator: of all accounts, or of single ones.",
    async read() {
      try {
        return (await spending.listStops()).length;
      } catch {
        // Storage is away, which has metrics of its own.
        return null;
      }
    },
  };
}
