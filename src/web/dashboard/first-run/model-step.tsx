/** The first step: one word from the model, with what it took. */
import { Zap } from "lucide-preact";
import { useState } from "preact/hooks";
import { DemoNotice } from "../demo-notice.tsx";
import { call } from "../lib/api.ts";
import { formatDuration } from "../lib/format.ts";
import { useAction } from "../lib/load.ts";
import { formatMoney } from "../lib/money.ts";
import { useSession } from "../lib/session.ts";
import type { TestedModel } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/states.tsx";

export function ModelStep({ onTested, onContinue }: { onTested(): void; onContinue(): void }) {
  const { account, server } = useSession();
  const [tested, setTested] = useState<TestedModel | null>(null);
  const test = useAction(async () => {
    setTested(null);
    const body = { model: server.default_model };
    const result = await call<TestedModel>("POST", "/api/server/test-model", { body });
    setTested(result);
    if (result.ok) onTested();
  });
  if (server.is_demo_llm) return <DemoNotice />;
  const model = <code class="font-mono text-13">{server.default_model}</code>;
  if (account.role !== "operator") {
    return <p class="text-muted">Your companions answer with {model}. You can choose another in their settings.</p>;
  }
  return (
    <div class="space-y-4">
      <p class="text-pretty text-muted">Your companions answer with {model}. Check that it replies with one word.</p>
      <div class="flex flex-wrap gap-2">
        <Button
          kind={tested?.ok === true ? "secondary" : "primary"}
          icon={Zap}
          isBusy={test.isBusy}
          onClick={() => void test.run()}
        >
          {tested === null ? "Test it" : "Test again"}
        </Button>
        {tested?.ok === true && (
          <Button kind="primary" onClick={onContinue}>
            Continue
          </Button>
        )}
      </div>
      <div role="status">{tested?.ok === true && <Answer tested={tested} />}</div>
      {tested?.ok === false && <Problem>{tested.detail ?? "The model didn't reply."}</Problem>}
      <Problem error={test.error} />
    </div>
  );
}

function Answer({ tested: { text, first_text_ms: ms, cost_micros: cost } }: { tested: TestedModel }) {
  const facts = [ms !== null && formatDuration(ms), cost !== null && formatMoney(cost)].filter(Boolean);
  return (
    <p class="flex flex-wrap items-baseline gap-x-3 gap-y-1 rounded-lg bg-good-tint px-4 py-3">
      <span dir="auto" class="font-medium wrap-anywhere">
        “{text}”
      </span>
      <span class="text-13 text-good tabular-nums">{facts.join(" · ")}</span>
    </p>
  );
}
