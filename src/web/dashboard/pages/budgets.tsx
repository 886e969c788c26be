/** `/app/budgets`: how much may be spent, how much of that is left, and what happens then. */
import { Pencil, Plus, Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { type BudgetLevel, describeUse, leftOf, levelOf, percentOf } from "../budgets/budget-state.ts";
import { useSubjectWords } from "../budgets/subject.tsx";
import { formatInstant, formatRelative } from "../lib/format.ts";
import { useList } from "../lib/load.ts";
import { formatExactMoney, formatMoney } from "../lib/money.ts";
import { alarmingBudgets, refreshSession, useSession } from "../lib/session.ts";
import { use } from "../lib/state.ts";
import type { Budget } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmDelete } from "../ui/dialog.tsx";
import { lazy } from "../ui/lazy.tsx";
import { ListFrame } from "../ui/list.tsx";
import { RowActions } from "../ui/menu.tsx";
import { PageHead } from "../ui/page.tsx";
import { Badge, Empty, Notice } from "../ui/states.tsx";

const MakeBudget = lazy(async () => (await import("../budgets/edit-budget.tsx")).MakeBudget);
const EditBudget = lazy(async () => (await import("../budgets/edit-budget.tsx")).EditBudget);

type Asked = { what: "edit" | "delete"; budget: Budget } | { what: "create" } | null;

export default function BudgetsPage() {
  const { server, account } = useSession();
  const list = useList<Budget>("/api/budgets");
  const alarming = use(alarmingBudgets);
  // The alarming ones first: anyone who follows the mark in the navigation wants to see them.
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
        Limit what language models and voices cost per day or month.
      </PageHead>
      {!server.has_prices && (
        <Notice class="mb-4">
          No model has a price here, so nothing is counted, and a budget that stops replies would stop all of them.{" "}
          {account.role === "operator" ? "Set prices with " : "The operator of this server sets prices, with "}
          <code class="font-mono">COMPANIOND_PRICES</code>.
        </Notice>
      )}
      <ListFrame
        list={{ ...list, items: budgets }}
        empty={
          <Empty title="No budgets yet" action={create}>
            A budget bounds what replies may cost: of the whole account, a companion, an API key, or one of your
            customers. When it is reached it stops replies, or only notifies you.
          </Empty>
        }
      >
        {() => (
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
        )}
      </ListFrame>
      {asked?.what === "create" && <MakeBudget onSaved={reload} onClose={close} />}
      {asked?.what === "edit" && <EditBudget budget={asked.budget} onSaved={reload} onClose={close} />}
      {asked?.what === "delete" && (
        <ConfirmDelete
          title={`Delete the budget of ${lowerFirst(nameSubject(asked.budget))}?`}
          path={`/api/budgets/${asked.budget.id}`}
          onDone={reload}
          onClose={close}
        >
          <p>
            {asked.budget.action === "stop"
              ? "It stops limiting replies immediately. Your other budgets still apply."
              : "You'll no longer be notified when that much is spent."}{" "}
            Recorded usage stays.
          </p>
        </ConfirmDelete>
      )}
    </>
  );
}

/** For words within a sentence; names of companions begin after one of ours. */
function lowerFirst(text: string): string {
  return text.startsWith("API") ? text : text.charAt(0).toLowerCase() + text.slice(1);
}

const fills: Record<BudgetLevel, string> = { calm: "bg-accent", near: "bg-warn", reached: "bg-bad" };

interface BudgetCardProps {
  budget: Budget;
  subject: string;
  onEdit(): void;
  onDelete(): void;
}

/** One budget: what it counts, how much of it is left, and what happens at its end. */
function BudgetCard({ budget, subject, onEdit, onDelete }: BudgetCardProps) {
  const level = levelOf(budget);
  const { limit_micros, spent_micros, reserved_micros, resets_at } = budget;
  return (
    <li class={`card flex min-w-0 flex-col gap-3 p-4 sm:p-5 ${level === "reached" ? "border-bad" : ""}`}>
      <div class="-mt-2 -mr-2 flex items-center gap-2">
        <h2 class="min-w-0 flex-1 font-semibold wrap-anywhere" dir="auto">
          {subject}
        </h2>
        {level !== "calm" && (
          <Badge tone={level === "reached" ? "bad" : "warn"}>
            {level === "reached" ? "Reached" : "Nearly used up"}
          </Badge>
        )}
        <RowActions
          name={subject}
          items={[
            { label: "Edit…", Icon: Pencil, onChoose: onEdit },
            { label: "Delete…", Icon: Trash2, isRisk: true, onChoose: onDelete },
          ]}
        />
      </div>
      <div>
        <p class="flex flex-wrap items-baseline justify-between gap-x-3 tabular-nums">
          <span class="text-20 font-semibold">{formatMoney(leftOf(budget))} left</span>
          <span class="text-14 text-muted">
            of {formatExactMoney(limit_micros)} {budget.period === "day" ? "a day" : "a month"}
          </span>
        </p>
        <Meter budget={budget} label={subject} />
        <p class="mt-1.5 text-13 text-muted tabular-nums">
          {formatMoney(spent_micros)} spent
          {reserved_micros > 0 && `, ${formatMoney(reserved_micros)} reserved for replies in progress`}
        </p>
      </div>
      <p class="text-14 text-pretty">
        {consequenceOf(budget, level)}{" "}
        <span class="text-muted" title={`${formatInstant(resets_at)} on your clock`}>
          Resets {formatRelative(resets_at)}.
        </span>
      </p>
    </li>
  );
}

function consequenceOf(budget: Budget, level: BudgetLevel): string {
  if (budget.action === "stop") {
    if (level === "reached") return "Replies that could exceed it are refused.";
    if (leftOf(budget) === 0) return "Replies in progress hold what's left. Other visitors wait a few seconds.";
    return "Stops replies when reached.";
  }
  return level === "reached" ? "Only notifies: replies continue." : "Notifies when reached: replies continue.";
}

function Meter({ budget, label }: { budget: Budget; label: string }) {
  const { limit_micros: limit, spent_micros: spent, reserved_micros: reserved } = budget;
  const shareOf = (micros: number) => `${limit === 0 ? 100 : Math.min(100, (micros / limit) * 100)}%`;
  const words = `${describeUse(budget)}, ${percentOf(budget)} %`;
  return (
    <div class="relative mt-2 h-2.5 overflow-hidden rounded-full bg-line">
      <meter
        class="sr-only"
        aria-label={`Spent: ${label}`}
        min={0}
        max={100}
        value={Math.min(100, percentOf(budget))}
        aria-valuetext={words}
      >
        {words}
      </meter>
      <div class="absolute inset-y-0 left-0 bg-edge" style={{ width: shareOf(spent + reserved) }} />
      <div class={`absolute inset-y-0 left-0 ${fills[levelOf(budget)]}`} style={{ width: shareOf(spent) }} />
    </div>
  );
}
