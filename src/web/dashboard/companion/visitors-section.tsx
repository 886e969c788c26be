/** The part of a companion's form that is about its visitors: whether it knows them, and answers others too. */
import { useLoad } from "../lib/load.ts";
import type { Page, VisitorKey } from "../lib/types.ts";
import { visitorKeysPath } from "../paths.ts";
import { CheckField, TextField } from "../ui/field.tsx";
import { Section } from "../ui/page.tsx";
import { Notice } from "../ui/states.tsx";
import { type SectionProps, tie } from "./draft.ts";

export function VisitorsSection(props: SectionProps) {
  const { draft, problems, change } = props;
  const isOn = draft.visitor_auth !== "off";
  return (
    <Section
      title="Who its visitors are"
      hint="Your website can vouch for those who are signed in there, with a token that your server signs."
    >
      <div class="space-y-3">
        <CheckField
          label="Verify visitors"
          hint="A verified visitor's conversations follow them to every device, and nobody else can read or continue them."
          checked={isOn}
          onChecked={(isChecked) => change({ visitor_auth: isChecked ? "optional" : "off" })}
        />
        {isOn && (
          <CheckField
            label="Only verified visitors"
            hint="Everybody else is refused, also on the companion's own page."
            checked={draft.visitor_auth === "required"}
            onChecked={(isChecked) => change({ visitor_auth: isChecked ? "required" : "optional" })}
          />
        )}
      </div>
      {problems.visitor_auth && <p class="mt-1.5 text-[0.88rem] text-bad">{problems.visitor_auth}</p>}
      {isOn && (
        <>
          <KeyHint />
          <TextField
            class="mt-5"
            label="Messages a day, for each visitor"
            type="number"
            min={1}
            max={10_000}
            {...tie(props, "daily_per_visitor")}
            placeholder="no limit of their own"
            hint="For verified visitors, whichever device they use."
          />
        </>
      )}
    </Section>
  );
}

function KeyHint() {
  const keys = useLoad<Page<VisitorKey>>("/api/visitor-keys").data?.data;
  if (keys === undefined) return null;
  if (keys.length > 0) {
    return (
      <p class="mt-4 text-[0.94rem] text-muted">
        The code for your website is under{" "}
        <a href={visitorKeysPath} class="text-accent underline">
          Visitor keys
        </a>
        .
      </p>
    );
  }
  return (
    <Notice class="mt-4">
      There is no visitor key yet, so nobody can be verified.{" "}
      <a href={visitorKeysPath} class="font-medium underline">
        Make one
      </a>
    </Notice>
  );
}

/** What a prompt may say of its visitor, beside the field of the prompt. */
export function PlaceholderGuide() {
  return (
    <div class="rounded-[0.6rem] bg-sunken px-3.5 py-2.5 text-[0.88rem] text-pretty text-muted">
      <p>
        The prompt may name the visitor: <Code>{"{{visitor.name}}"}</Code>, <Code>{"{{visitor.email}}"}</Code>, and
        whatever your website adds, such as <Code>{"{{visitor.attributes.plan}}"}</Code>. What is not known of a visitor
        is left empty.
      </p>
    </div>
  );
}

function Code({ children }: { children: string }) {
  return <code class="font-mono text-[0.92em] text-ink wrap-anywhere">{children}</code>;
}
