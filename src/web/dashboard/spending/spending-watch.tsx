/** What every page shows of money while there is something: that spending is stopped, and budgets that run out. */
import { useEffect } from "preact/hooks";
import { describeAlarms, describeUse, pickAlarming } from "../budgets/budget-state.ts";
import { useSubjectWords } from "../budgets/subject.tsx";
import { useEvery, useLoad } from "../lib/load.ts";
import { budgetsPath, homePath, usePath } from "../lib/router.ts";
import { alarmingBudgets, budgetAlarm, refreshSession, useSession } from "../lib/session.ts";
import type { Budget, Page } from "../lib/types.ts";
import { Notice } from "../ui/states.tsx";

const refreshEveryMs = 60_000;
const maxShown = 3;

export function SpendingWatch() {
  const signedIn = useSession();
  const { spending, account } = signedIn;
  const budgets = useLoad<Page<Budget>>(spending.has_budgets ? "/api/budgets?limit=1000" : null);
  useEvery(refreshEveryMs, () => void refreshSession());
  // What made the session be read again may have changed budgets, too.
  useEffect(() => void budgets.reload(), [signedIn]);

  const alarming = pickAlarming(budgets.data?.data ?? []);
  const alarm = describeAlarms(alarming);
  useEffect(() => {
    budgetAlarm.value = alarm;
    alarmingBudgets.value = alarming;
    return () => {
      budgetAlarm.value = "";
      alarmingBudgets.value = [];
    };
  }, [alarm, budgets.data]);
  const isHome = usePath() === homePath;
  return (
    <div role="status">
      {spending.is_stopped && (
        <p class="mb-6 rounded-lg bg-bad-tint px-4 py-3 text-14 text-bad">
          <strong class="font-semibold">Replies are turned off by the operator.</strong> Visitors see that the chat is
          unavailable.{" "}
          {account.role === "operator" && (
            <a href="/app/accounts" class="font-medium underline">
              Turn back on
            </a>
          )}
        </p>
      )}
      {isHome && alarm !== "" && <AlarmNotice budgets={alarming} alarm={alarm} />}
    </div>
  );
}

function AlarmNotice({ budgets, alarm }: { budgets: readonly Budget[]; alarm: string }) {
  const shown = budgets.slice(0, maxShown);
  const nameSubject = useSubjectWords(shown);
  return (
    <Notice tone={alarm.includes("reached") ? "bad" : "warn"} class="mb-6">
      <p>
        <strong class="font-semibold">{alarm}.</strong>{" "}
        <a href={budgetsPath} class="font-medium underline">
          Budgets
        </a>
      </p>
      <ul class="mt-1 tabular-nums">
        {shown.map((budget) => (
          <li key={budget.id} class="wrap-anywhere" dir="auto">
            {nameSubject(budget)}: {describeUse(budget)}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
