/**
 * The parts of a companion's form that are about its visitors: whether it knows them, answers others too, and has
 * their browsers work first.
 */
import { useLoad } from "../lib/load.ts";
import { visitorKeysPath } from "../lib/router.ts";
import type { Companion, Page, VisitorKey } from "../lib/types.ts";
import { CheckField, FieldError, TextField } from "../ui/field.tsx";
import { Radios } from "../ui/radios.tsx";
import { Notice } from "../ui/states.tsx";
import { type SectionProps, tie } from "./draft.ts";
import { Fold } from "./fold.tsx";

export function VisitorsSection(props: SectionProps) {
  const { draft, problems, change } = props;
  const isOn = draft.visitor_auth !== "off";
  return (
    <Fold
      id="visitors"
      title="Signed-in visitors"
      summary={isOn ? (draft.visitor_auth === "required" ? "Only verified visitors" : "Verified if signed in") : "Off"}
      hint="Your website can vouch for visitors who are signed in, with a token that your server signs."
    >
      <div class="space-y-3">
        <CheckField
          label="Verify visitors"
          hint="Their conversations follow them to every device, and no one else can read or continue them."
          checked={isOn}
          onChecked={(isChecked) => change({ visitor_auth: isChecked ? "optional" : "off" })}
        />
        {isOn && (
          <CheckField
            label="Only verified visitors"
            hint="Everyone else is refused, on the chat page too."
            checked={draft.visitor_auth === "required"}
            onChecked={(isChecked) => change({ visitor_auth: isChecked ? "required" : "optional" })}
          />
        )}
      </div>
      <FieldError error={problems.visitor_auth} />
      {isOn && (
        <>
          <KeyHint />
          <TextField
            class="mt-5"
            label="Messages per day and visitor"
            type="number"
            min={1}
            max={10_000}
            {...tie(props, "daily_per_visitor")}
            placeholder="No limit"
            hint="For verified visitors, across all their devices."
          />
        </>
      )}
    </Fold>
  );
}

function KeyHint() {
  const keys = useLoad<Page<VisitorKey>>("/api/visitor-keys").data?.data;
  if (keys === undefined) return null;
  if (keys.length > 0) {
    return (
      <p class="mt-4 text-14 text-muted">
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
      There's no visitor key yet, so no one can be verified.{" "}
      <a href={visitorKeysPath} class="font-medium underline">
        Create one
      </a>
    </Notice>
  );
}

/** What a prompt may say of its visitor, beside the field of the prompt. */
export function PlaceholderGuide() {
  return (
    <div class="rounded-lg bg-sunken px-3.5 py-2.5 text-13 text-pretty text-muted">
      <p>
        The prompt can name the visitor: <Code>{"{{visitor.name}}"}</Code>, <Code>{"{{visitor.email}}"}</Code>, and
        whatever your website adds, such as <Code>{"{{visitor.attributes.plan}}"}</Code>. What isn't known is left
        empty.
      </p>
    </div>
  );
}

function Code({ children }: { children: string }) {
  return <code class="font-mono text-[0.92em] text-ink wrap-anywhere">{children}</code>;
}

const modes: readonly { value: Companion["challenge"]; label: string; hint: string }[] = [
  { value: "off", label: "Off", hint: "" },
  { value: "auto", label: "When busy", hint: "Adds a moment's delay under heavy traffic." },
  { value: "always", label: "Always", hint: "Up to two seconds on old phones. Nothing to click." },
];

/** The part of a companion's form that sets when visitors' browsers must work before they chat. */
export function ChallengeSection({ draft, problems, change }: SectionProps) {
  return (
    <Fold
      id="protection"
      title="Bot protection"
      summary={modes.find(({ value }) => value === draft.challenge)?.label ?? ""}
    >
      <Radios
        label="Bot protection"
        isLabelHidden
        value={draft.challenge}
        onValue={(challenge) => change({ challenge })}
        options={modes}
      />
      <FieldError error={problems.challenge} />
    </Fold>
  );
}
