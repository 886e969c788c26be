/** The part of a companion's form that says how it uses what it has read. */
import { SelectField, TextField } from "../ui/field.tsx";
import { Section } from "../ui/page.tsx";
import { type SectionProps, tie } from "./draft.ts";

const answerModes = [
  { value: "free", label: "The model answers by itself" },
  { value: "grounded", label: "Say that it has no answer" },
] as const;

const citations = [
  { value: "footer", label: "Numbers, with a list below" },
  { value: "markers", label: "Numbers only" },
  { value: "none", label: "Not at all" },
] as const;

/** `id`: of a companion that exists, and may have sources. */
export function KnowledgeSection({ id, ...props }: SectionProps & { id: string | undefined }) {
  const isGrounded = props.draft.answer_mode === "grounded";
  return (
    <Section
      title="Knowledge"
      hint={
        id === undefined ? (
          "What it may read is added once it is created."
        ) : (
          <>
            What it may read is on{" "}
            <a href={`/app/companions/${id}/knowledge`} class="text-accent underline">
              its own page
            </a>
            .
          </>
        )
      }
    >
      <div class="space-y-5">
        <div class="grid gap-5 sm:grid-cols-2">
          <SelectField label="How replies name their sources" options={citations} {...tie(props, "citations")} />
          <SelectField
            label="Where its sources say nothing"
            options={answerModes}
            {...tie(props, "answer_mode")}
            hint={
              isGrounded ? "The model is not asked then, which costs nothing. Greetings still go to it." : undefined
            }
          />
        </div>
        {(isGrounded || props.draft.no_answer_text !== "") && (
          <TextField
            label="What it says then"
            rows={2}
            {...tie(props, "no_answer_text")}
            placeholder="I have no answer to that. Write to help@shop.example."
            hint="If empty, a sentence in the visitor's language."
          />
        )}
      </div>
    </Section>
  );
}
