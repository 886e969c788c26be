/** Asks a model for one word, and shows what it answered, how fast and at what cost. */
import { useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { formatDuration } from "../lib/format.ts";
import { useAction } from "../lib/load.ts";
import { formatMoney } from "../lib/money.ts";
import type { TestedModel } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Form } from "../ui/field.tsx";
import { Section } from "../ui/page.tsx";
import { SelectField } from "../ui/select.tsx";
import { Notice, Problem } from "../ui/states.tsx";

export function ModelTest({ models, usual }: { models: readonly string[]; usual: string }) {
  const [model, setModel] = useState(usual);
  const [answer, setAnswer] = useState<TestedModel | null>(null);
  const test = useAction(async () => {
    setAnswer(null);
    setAnswer(await call<TestedModel>("POST", "/api/server/test-model", { body: { model } }));
  });
  return (
    <Section title="Test a model" hint="Asks for one word. It counts in your usage.">
      <Form class="flex flex-wrap items-end gap-2" onSubmit={() => void test.run()}>
        <SelectField
          label="Model"
          class="flex-1"
          value={model}
          options={[...new Set([usual, ...models])].map((value) => ({ value, label: value }))}
          onValue={setModel}
        />
        <Button type="submit" isBusy={test.isBusy}>
          Test
        </Button>
      </Form>
      <Problem error={test.error} class="mt-3" />
      <div role="status">
        {answer !== null && (
          <Notice tone={answer.ok ? "good" : "bad"} class="mt-3 wrap-anywhere">
            {answer.ok ? `“${answer.text?.trim()}” ${listFacts(answer)}` : answer.detail}
          </Notice>
        )}
      </div>
    </Section>
  );
}

function listFacts({ first_text_ms, cost_micros }: TestedModel): string {
  const speed = first_text_ms === null ? "" : ` after ${formatDuration(first_text_ms)}`;
  return `${speed.trim()}${cost_micros === null ? ", no price set" : `, ${formatMoney(cost_micros)}`}.`;
}
