/** What visitors asked and nothing was found for: answered in one step, or dismissed. */
import { useRef, useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { countOf } from "../lib/format.ts";
import { type LoadedList, useAction } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import type { Source, UnansweredQuestion } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { Time } from "../ui/page.tsx";
import { Row, RowList } from "../ui/row-list.tsx";
import { Empty, Notice, Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

interface UnansweredProps<Question extends UnansweredQuestion> {
  /** Of its companion's unanswered questions. */
  path(question: Question): string;
  list: LoadedList<Question>;
  sourcesHref(question: Question): string;
  /** Of its companion; left out where all are of one, and no page's head explains them. */
  nameOf?(question: Question): string;
  /** An answer has become a source. */
  onAnswered(source: Source): void;
}

export function Unanswered<Question extends UnansweredQuestion>(props: UnansweredProps<Question>) {
  const { path, list, sourcesHref, nameOf, onAnswered } = props;
  const mayChange = useSession().scopes.includes("knowledge:write");
  const heading = useRef<HTMLHeadingElement>(null);
  const [asked, setAsked] = useState<Question | null>(null);
  const [made, setMade] = useState<{ source: Source; href: string } | null>(null);
  const dismiss = useAction(async (question: Question) => {
    await call("DELETE", `${path(question)}/${question.id}`);
    list.update((items) => items.filter((item) => item.id !== question.id));
    heading.current?.focus();
    say("Dismissed. It'll come back if someone asks again.");
  });
  return (
    <section aria-label="Knowledge gaps">
      <div class="mb-4">
        <h2 ref={heading} tabIndex={-1} class="text-16 font-semibold">
          {nameOf ? "Questions" : "Knowledge gaps"}
        </h2>
        {!nameOf && (
          <p class="text-14 text-pretty text-muted">
            Questions your sources had nothing on. An answer becomes a source.
          </p>
        )}
      </div>
      <div role="status">
        {made && (
          <Notice tone="good" class="mb-4">
            Your answer is now a source:{" "}
            <a href={made.href} class="font-medium underline wrap-anywhere" dir="auto">
              {made.source.title}
            </a>
          </Notice>
        )}
      </div>
      <Problem error={dismiss.error} class="mb-4" />
      <RowList
        label="Knowledge gaps"
        list={list}
        empty={
          <Empty title="All caught up">When your sources have nothing on a visitor's question, it appears here.</Empty>
        }
      >
        {(question) => (
          <Row
            key={question.id}
            actions={
              mayChange && (
                <>
                  <Button onClick={() => setAsked(question)}>
                    Answer…<span class="sr-only"> {question.question}</span>
                  </Button>
                  <Button kind="ghost" disabled={dismiss.isBusy} onClick={() => void dismiss.run(question)}>
                    Dismiss<span class="sr-only"> {question.question}</span>
                  </Button>
                </>
              )
            }
          >
            <p class="text-left font-medium wrap-anywhere whitespace-pre-wrap" dir="auto">
              {question.question}
            </p>
            {nameOf && (
              <p class="text-13 text-muted">
                <bdi>{nameOf(question)}</bdi>
              </p>
            )}
            <Asked question={question} />
          </Row>
        )}
      </RowList>
      {asked && (
        <AnswerForm
          path={path(asked)}
          question={asked}
          onAnswered={(source) => {
            setMade({ source, href: sourcesHref(asked) });
            list.update((items) => items.filter(({ id }) => id !== asked.id));
            onAnswered(source);
            requestAnimationFrame(() => heading.current?.focus());
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </section>
  );
}

function Asked({ question }: { question: UnansweredQuestion }) {
  const { count, first_asked_at, last_asked_at } = question;
  return (
    <p class="mt-0.5 flex flex-wrap gap-x-3 text-13 text-muted tabular-nums">
      <span>
        {count === 1 ? "Asked once, " : `Asked ${countOf(count, "time")}, last `}
        <Time at={last_asked_at} />
      </span>
      {count > 1 && (
        <span>
          first <Time at={first_asked_at} />
        </span>
      )}
    </p>
  );
}

interface AnswerFormProps {
  path: string;
  question: UnansweredQuestion;
  onAnswered(source: Source): void;
  onClose(): void;
}

function AnswerForm({ path, question, onAnswered, onClose }: AnswerFormProps) {
  const [text, setText] = useState("");
  const submit = useAction(async () => {
    const made = await call<Source>("POST", `${path}/${question.id}/answer`, { body: { text } });
    onClose();
    onAnswered(made);
  });
  return (
    <FormDialog
      title={question.question}
      action="Answer"
      submit={submit}
      isReady={text.trim() !== ""}
      fields={["text"]}
      isWide
      onClose={onClose}
    >
      <TextField
        label="Answer"
        autofocus
        rows={7}
        value={text}
        onValue={setText}
        hint="Plain text or Markdown. Saved as a source with the question as its title."
        error={fieldProblem(submit.error, "text")}
      />
    </FormDialog>
  );
}
