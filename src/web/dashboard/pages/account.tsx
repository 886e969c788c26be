/** `/app/account`: the own account, its password, and where it is signed in. */
import { useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { describeBrowser, formatBytes, formatDay, formatNumber } from "../lib/format.ts";
import { useAction, useList, useLoad } from "../lib/load.ts";
import { secondFactorPath } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import type { Session, SignedIn } from "../lib/types.ts";
import { Button, ButtonLink } from "../ui/button.tsx";
import { Form, FormProblem, PasswordField } from "../ui/field.tsx";
import { lazy } from "../ui/lazy.tsx";
import { type Column, List } from "../ui/list.tsx";
import { PageHead, Section, Time } from "../ui/page.tsx";
import { Badge, Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

const PersonSection = lazy(async () => (await import("../members/person-section.tsx")).PersonSection);

export default function AccountPage() {
  const { account, member, server } = useSession();
  const sessions = useList<Session>("/api/sessions");
  return (
    <>
      <PageHead title="Your account" />
      <div class="space-y-6">
        <Section title={account.email}>
          <dl class="grid gap-x-8 gap-y-3 sm:grid-cols-4">
            <Fact name="Plan" value={account.plan === "paid" ? "Paid" : "Free"} />
            <Fact name="Daily messages per companion" value={formatNumber(server.daily_messages)} />
            <Fact name="Role" value={roleOf(member?.role ?? account.role)} />
            <Fact name="Member since" value={formatDay(account.created_at)} />
            <Holds />
          </dl>
        </Section>
        <PersonSection />
        <PasswordSection onChanged={sessions.reload} />
        <SecondFactorSection />
        <Sessions sessions={sessions} />
        <p class="text-center text-13 text-muted">companiond {server.version}</p>
      </div>
    </>
  );
}

function roleOf(role: SignedIn["account"]["role"] | "responder"): string {
  return { operator: "Operator", owner: "Owner", responder: "Responder" }[role];
}

/** Loaded again, since what the account held when the dashboard was opened may be out of date. */
function Holds() {
  const known = useSession();
  const { holdings } = useLoad<SignedIn>("/api/session").data ?? known;
  const show = ({ used, limit }: SignedIn["holdings"]["bytes"], format = formatNumber) =>
    `${format(used)} of ${format(limit)}`;
  return (
    <>
      <Fact name="Companions" value={show(holdings.companions)} />
      <Fact name="API keys" value={show(holdings.api_keys)} />
      <Fact name="Storage used" value={show(holdings.bytes, formatBytes)} />
      <Fact name="Embed tokens per companion" value={`up to ${formatNumber(holdings.embed_tokens)}`} />
    </>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt class="text-13 text-muted">{name}</dt>
      <dd class="font-medium">{value}</dd>
    </div>
  );
}

function PasswordSection({ onChanged }: { onChanged(): Promise<void> }) {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const { run, isBusy, error } = useAction(async () => {
    await call("POST", "/api/session/password", { body: { current_password: current, new_password: next } });
    setCurrent("");
    setNext("");
    say("Password changed. You're signed out everywhere else.");
    await onChanged();
  });
  return (
    <Section title="Password" hint="Changing it signs you out everywhere else.">
      <Form class="grid items-start gap-4 sm:grid-cols-2" onSubmit={() => void run()}>
        <PasswordField
          label="Current password"
          value={current}
          onValue={setCurrent}
          error={fieldProblem(error, "current_password")}
        />
        <PasswordField
          label="New password"
          isNew
          value={next}
          onValue={setNext}
          error={fieldProblem(error, "new_password")}
        />
        <div class="sm:col-span-2">
          <FormProblem error={error} fields={["current_password", "new_password"]} class="mb-4" />
          <Button type="submit" isBusy={isBusy} disabled={current === "" || next === ""}>
            Change password
          </Button>
        </div>
      </Form>
    </Section>
  );
}

function SecondFactorSection() {
  const { totp } = useSession();
  return (
    <Section
      title="Two-factor authentication"
      hint="Adds a code from your phone when you sign in."
      actions={<Badge tone={totp.is_on ? "good" : "neutral"}>{totp.is_on ? "On" : "Off"}</Badge>}
    >
      <ButtonLink href={secondFactorPath}>{totp.is_on ? "Manage" : "Set up"}</ButtonLink>
    </Section>
  );
}

function Sessions({ sessions }: { sessions: ReturnType<typeof useList<Session>> }) {
  const end = useAction(async (id: string) => {
    await call("DELETE", `/api/sessions/${id}`);
    say("Signed out of that browser.");
    await sessions.reload();
  });
  const columns: readonly Column<Session>[] = [
    {
      title: "Browser",
      cell: (session) => (
        <span title={session.user_agent ?? ""}>
          {describeBrowser(session.user_agent)} {session.is_current && <Badge tone="good">This browser</Badge>}
        </span>
      ),
    },
    { title: "From", cell: ({ ip }) => <code class="font-mono text-13 text-muted">{ip ?? "unknown"}</code> },
    { title: "Signed in", onPhone: "titled", class: "text-muted", cell: ({ created_at }) => <Time at={created_at} /> },
    {
      title: "Last used",
      onPhone: "titled",
      class: "text-muted",
      cell: ({ last_used_at }) => <Time at={last_used_at} />,
    },
    {
      title: "",
      class: "text-right",
      cell: (session) =>
        !session.is_current && (
          <Button disabled={end.isBusy} onClick={() => void end.run(session.id)}>
            Sign out
          </Button>
        ),
    },
  ];
  return (
    <Section title="Active sessions" hint="Sessions end after 7 days of inactivity, or 30 days at most.">
      <Problem error={end.error} class="mb-4" />
      <List label="Sessions" columns={columns} list={sessions} empty={null} />
    </Section>
  );
}
