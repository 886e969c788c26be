/** What is missing where usage has no price, and who can do something about it. */
import { useSession } from "../lib/session.ts";
import { Notice } from "../ui/states.tsx";

const setting = <code class="font-mono">COMPANIOND_PRICES</code>;

/** Under amounts of which some are unknown. */
export function NoPriceNotice() {
  const { account } = useSession();
  return (
    <Notice class="mt-4">
      <strong class="font-semibold">No price:</strong> some of these replies came from a model that had none, so what
      they cost together is not known.{" "}
      {account.role === "operator" ? (
        <>Add the model to {setting} and restart the server; from then on its replies are priced.</>
      ) : (
        <>The operator of this server sets prices, with {setting}.</>
      )}
    </Notice>
  );
}

/** Where no model has a price: for those who can change that. */
export function NoPricesHint() {
  const { account } = useSession();
  if (account.role !== "operator") return null;
  return (
    <p class="mt-6 text-[0.88rem] text-muted">
      With prices for your models in {setting}, this page also shows what they cost, and accounts can have budgets.
    </p>
  );
}
