/** One budget: what it counts, how much of it is left, and what happens at its end. */
import { formatInstant, formatRelative } from "../lib/format.ts";
import { formatExactMoney, formatMoney } from "../lib/money.ts";
import type { Budget } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Badge } from "../ui/states.tsx";
import { type BudgetLevel, describeUse, leftOf, levelOf, percentOf } from "./budget-state.ts";

const fills: Record<BudgetLevel, string> = { calm: "bg-accent", near: "bg-warn", reached: "bg-bad" };

interface BudgetCardProps {
  budget: Budget;
  subject: string;
  onEdit(): void;
  onDelete(): void;
}

export function BudgetCard({ budget, subject, onEdit, onDelete }: BudgetCardProps) {
  const level = levelOf(budget);
  const { limit_micros, spent_micros, reserved_micros, resets_at } = budget;
  return (
    <li class={`card flex min-w-0 flex-col gap-3 p-4 sm:p-5 ${level === "reached" ? "border-bad" : ""}`}>
      <div class="flex flex-wrap items-start justify-between gap-x-3 gap-y-1">
        <h2 class="min-w-0 font-semibold wrap-anywhere" dir="auto">
          {subject}
        </h2>
        {level !== "calm" && (
          <Badge tone={level === "reached" ? "bad" : "warn"}>
            {level === "reached" ? "Reached" : "Nearly used up"}
          </Badge>
        )}
      </div>
      <div>
        <p class="flex flex-wrap items-baseline justify-between gap-x-3 tabular-nums">
          <span class="text-xl font-semibold">{formatMoney(leftOf(budget))} left</span>
          <span class="text-[0.94rem] text-muted">
            of {formatExactMoney(limit_micros)} {budget.period === "day" ? "a day" : "a month"}
          </span>
        </p>
        <Meter budget={budget} label={subject} />
        <p class="mt-1.5 text-[0.88rem] text-muted tabular-nums">
          {formatMoney(spent_micros)} spent
          {reserved_micros > 0 && `, ${formatMoney(reserved_micros)} reserved for replies under way`}
        </p>
      </div>
      <p class="text-[0.94rem] text-pretty">
        {consequenceOf(budget, level)}{" "}
        <span class="text-muted" title={`${formatInstant(resets_at)} on your clock`}>
          Resets {formatRelative(resets_at)}.
        </span>
      </p>
      <div class="mt-auto flex flex-wrap gap-2 pt-1">
        <Button onClick={onEdit}>
          Edit…<span class="sr-only"> {subject}</span>
        </Button>
        <Button kind="risk" onClick={onDelete}>
          Delete…<span class="sr-only"> {subject}</span>
        </Button>
      </div>
    </li>
  );
}

function consequenceOf(budget: Budget, level: BudgetLevel): string {
  if (budget.action === "stop") {
    if (level === "reached") return "Replies that could exceed it are refused.";
    if (leftOf(budget) === 0) return "Replies under way hold what is left: others are asked to wait some seconds.";
    return "Stops replies when it is reached.";
  }
  return level === "reached" ? "It only notifies: replies go on." : "Only notifies when it is reached: replies go on.";
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
