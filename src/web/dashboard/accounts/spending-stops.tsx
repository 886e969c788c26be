/** The operator's kill switch: stops whatever costs money, of one account or of all, until it is started again. */
import { useId, useState } from "preact/hooks";
import { call, toSentence } from "../lib/api.ts";
import { formatInstant } from "../lib/format.ts";
import { type Loaded, useAction } from "../lib/load.ts";
import { refreshSession } from "../lib/session.ts";
import type { Account, SpendingStop } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { Notice, Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

export type LoadedStops = Loaded<{ data: SpendingStop[] }>;

/** Null: not stopped. */
export function stopOf({ data }: LoadedStops, accountId: string | null): SpendingStop | null {
  return data?.data.find(({ account_id }) => account_id === accountId) ?? null;
}

const path = "/api/spending-stops";

async function stopSpending(stops: LoadedStops, accountId: string | null): Promise<void> {
  await call("POST", path, { body: accountId === null ? {} : { account_id: accountId } });
  await Promise.all([stops.reload(), refreshSession()]);
  say("Stopped.");
}

async function startSpending(stops: LoadedStops, accountId: string | null): Promise<void> {
  await call("DELETE", `${path}/${accountId ?? "all"}`);
  await Promise.all([stops.reload(), refreshSession()]);
  say("Turned back on.");
}

/** For everyone. */
export function SpendingSection({ stops }: { stops: LoadedStops }) {
  const id = useId();
  const [isAsking, setIsAsking] = useState(false);
  const start = useAction(() => startSpending(stops, null));
  const stop = stopOf(stops, null);
  return (
    <section class={`card mb-4 px-4 py-3 sm:px-5 ${stop ? "border-bad" : ""}`} aria-labelledby={id}>
      <div class="flex flex-wrap items-center justify-between gap-3">
        <div class="min-w-0 flex-1 basis-56">
          <h2 id={id} class="font-semibold">
            {stop ? <span class="text-bad">Spending is stopped for everyone</span> : "Spending"}
          </h2>
          <p class="text-14 text-pretty text-muted">
            {stop
              ? `Since ${formatInstant(stop.stopped_at)}. Replies and voice sessions are off.`
              : "In an emergency, you can stop language models and voices for everyone immediately."}
          </p>
        </div>
        {stops.data &&
          (stop ? (
            <Button kind="primary" isBusy={start.isBusy} onClick={() => void start.run()}>
              Turn back on
            </Button>
          ) : (
            <Button onClick={() => setIsAsking(true)}>Stop all spending…</Button>
          ))}
      </div>
      <Problem error={stops.error} class="mt-3" />
      <Problem error={start.error} class="mt-3" />
      {isAsking && (
        <Confirm
          title="Stop all spending?"
          action="Stop all spending"
          onConfirm={() => stopSpending(stops, null)}
          onClose={() => setIsAsking(false)}
        >
          <StopWords whose="on this server" />
        </Confirm>
      )}
    </section>
  );
}

/** In the dialog of one account. */
export function AccountSpending({ account, stops }: { account: Account; stops: LoadedStops }) {
  const start = useAction(() => startSpending(stops, account.id));
  const stop = stopOf(stops, account.id);
  if (stop === null) return null;
  return (
    <Notice tone="bad">
      <span class="flex flex-wrap items-center justify-between gap-3">
        Spending is stopped: replies are off.
        <Button isBusy={start.isBusy} onClick={() => void start.run()}>
          Turn back on
        </Button>
      </span>
      {start.error !== null && <span role="alert">{toSentence(start.error)}</span>}
    </Notice>
  );
}

export function StopAccount({ account, stops, onClose }: { account: Account; stops: LoadedStops; onClose(): void }) {
  return (
    <Confirm
      title={`Stop the spending of ${account.email}?`}
      action="Stop spending"
      onConfirm={() => stopSpending(stops, account.id)}
      onClose={onClose}
    >
      <StopWords whose="of this account" />
    </Confirm>
  );
}

function StopWords({ whose }: { whose: string }) {
  return (
    <>
      <p>
        From now on no language model and no voice provider is called for any companion {whose}. Visitors read that the
        chat is out of service; replies under way are finished.
      </p>
      <p>
        Owners see why in their dashboard, and can do everything else. It lasts, also over restarts, until you start it
        again.
      </p>
    </>
  );
}
