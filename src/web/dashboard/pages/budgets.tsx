/** `/app/budgets`: how much may be spent, how much of that is left, and what happens then. */
import { Plus } from "lucide-preact";
import { useState } from "preact/hooks";
import { BudgetCard } from "../budgets/budget-card.tsx";
import { useSubjectWords } from "../budgets/subject.tsx";
import { call, toSentence } from "../lib/api.ts";
import { useList } from "../lib/load.ts";
import { alarmingBudgets, refreshSession, useSession } from "../lib/session.ts";
import { use } from "../lib/state.ts";
import type { Budget } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { lazy } from "../ui/lazy.tsx";
import { PageHead } from "../ui/page.tsx";
import { Empty, Failure, Notice, Problem, Skeleton } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

const MakeBudget = lazy(async () => (await import("../budgets/edit-budget.tsx")).MakeBudget);
const EditBudget = lazy(async () => (await import("../budgets/edit-budget.tsx")).EditBudget);

type Asked = { what: "edit" | "delete"; budget: Budget } | { what: "create" } | null;

export default function BudgetsPage() {
  const { server, account } = useSession();
  const list = useList<Budget>("/api/budgets");
  const alarming = use(alarmingBudgets);
  // The alarming ones first: whoever follows the mark in the navigation looks for them.
  const budgets = [...alarming, ...list.items.filter(({ id }) => alarming.every((other) => other.id !== id))];
  const nameSubject = useSubjectWords(budgets);
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  async function reload(): Promise<void> {
    await Promise.all([list.reload(), refreshSession()]);
  }
  const create = (
    <Button icon={Plus} kind="primary" onClick={() => setAsked({ what: "create" })}>
      New budget
    </Button>
  );
  return (
    <>
      <PageHead title="Budgets" actions={create}>
        How much the language models and voices may cost in a day or a month.
      </PageHead>
      {!server.has_prices && (
        <Notice class="mb-4">
          No model has a price here, so nothing counts, and a budget that stops would refuse every reply.{" "}
          {account.role === "operator" ? "Set prices with " : "The operator of this server sets prices, with "}
          <code class="font-mono">COMPANIOND_PRICES</code>.
        </Notice>
      )}
      {budgets.length > 0 ? (
        <ul class="grid gap-4 lg:grid-cols-2" aria-label="Budgets">
          {budgets.map((budget) => (
            <BudgetCard
              key={budget.id}
              budget={budget}
              subject={nameSubject(budget)}
              onEdit={() => setAsked({ what: "edit", budget })}
              onDelete={() => setAsked({ what: "delete", budget })}
            />
          ))}
        </ul>
      ) : list.isLoading ? (
        <Skeleton />
      ) : list.error !== null ? (
        <Failure error={list.error} onRetry={() => void list.reload()} />
      ) : (
        <Empty title="No budgets yet" action={create}>
          A budget bounds what replies may cost: of the whole account, a companion, an API key, or one of your
          customers. When it is reached it stops replies, or only notifies you.
        </Empty>
      )}
      {budgets.length > 0 && list.error !== null && <Problem class="mt-4">{toSentence(list.error)}</Problem>}
      {list.hasMore && (
        <div class="mt-4 flex justify-center">
          <Button isBusy={list.isLoadingMore} onClick={() => void list.loadMore()}>
            Show more
          </Button>
        </div>
      )}
      {asked?.what === "create" && <MakeBudget onSaved={reload} onClose={close} />}
      {asked?.what === "edit" && <EditBudget budget={asked.budget} onSaved={reload} onClose={close} />}
      {asked?.what === "delete" && (
        <Confirm
          title={`Delete the budget of ${lowerFirst(nameSubject(asked.budget))}?`}
          action="Delete"
          onConfirm={async () => {
            await call("DELETE", `/api/budgets/${asked.budget.id}`);
            say("Deleted.");
            await reload();
          }}
          onClose={close}
        >
          <p>
            {asked.budget.action === "stop"
              ? "It no longer stops replies, from the next one on. Other budgets still do."
              : "It no longer notifies when that much is spent."}{" "}
            Usage stays as it was counted.
          </p>
        </Confirm>
      )}
    </>
  );
}

/** For words within a sentence; names of companions begin after one of ours. */
function lowerFirst(text: string): string {
  return text.startsWith("API") ? text : text.charAt(0).toLowerCase() + text.slice(1);
}
