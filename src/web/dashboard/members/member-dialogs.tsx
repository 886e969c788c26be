/** Dialogs about a member: inviting, changing, another link, and removing. */
import { useState } from "preact/hooks";
import { call, changedFields, fieldProblem } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import type { InvitedMember, Member, MemberLink } from "../lib/types.ts";
import { personIdOf } from "../members/who.ts";
import { Snippet } from "../ui/copy.tsx";
import { ConfirmDelete, FormDialog, ShownOnce } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { Notice } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { type Fields, MemberFields } from "./member-fields.tsx";

export type AskedOfMember = { what: "invite" } | { what: "edit" | "link" | "remove"; member: Member };

interface DialogProps {
  onChanged(): Promise<void>;
  onClose(): void;
}

export function MemberDialog({ asked, ...rest }: DialogProps & { asked: AskedOfMember }) {
  if (asked.what === "invite") return <Invite {...rest} />;
  const { member } = asked;
  if (asked.what === "edit") return <Edit member={member} {...rest} />;
  return asked.what === "link" ? <NewLink member={member} {...rest} /> : <Remove member={member} {...rest} />;
}

function Invite({ onChanged, onClose }: DialogProps) {
  const { member } = useSession();
  const reach = member?.companion_ids ?? null;
  const [email, setEmail] = useState("");
  const [fields, setFields] = useState<Fields>({ name: "", role: "responder", companion_ids: reach });
  const [url, setUrl] = useState<string | null>(null);
  const submit = useAction(async () => {
    const made = await call<InvitedMember>("POST", "/api/members", { body: { email: email.trim(), ...fields } });
    await onChanged();
    setUrl(made.url ?? "");
  });
  if (url !== null) return <LinkShown title="Invited" email={email} url={url} onClose={onClose} />;
  return (
    <FormDialog
      title="Invite a member"
      action="Invite"
      isReady={email.trim() !== "" && fields.name.trim() !== ""}
      submit={submit}
      fields={["email", "name", "role", "companion_ids"]}
      class="space-y-5"
      onClose={onClose}
    >
      <TextField
        label="Email"
        type="email"
        required
        autofocus
        value={email}
        onValue={setEmail}
        error={fieldProblem(submit.error, "email")}
        hint="They'll sign in with it."
      />
      <MemberFields fields={fields} error={submit.error} onFields={setFields} />
    </FormDialog>
  );
}

function Edit({ member, onChanged, onClose }: DialogProps & { member: Member }) {
  const isSelf = personIdOf(useSession()) === member.id;
  const { role, companion_ids } = member;
  const before: Fields = { name: member.name ?? "", role, companion_ids };
  const [fields, setFields] = useState(before);
  const submit = useAction(async () => {
    await call("PATCH", `/api/members/${member.id}`, { body: changedFields(before, fields) });
    await onChanged();
    say("Saved.");
    onClose();
  });
  return (
    <FormDialog
      title={`Edit ${member.email}`}
      action="Save"
      isReady={fields.name.trim() !== ""}
      submit={submit}
      fields={["name", "role", "companion_ids"]}
      class="space-y-5"
      onClose={onClose}
    >
      <MemberFields fields={fields} error={submit.error} onFields={setFields} isSelf={isSelf} />
      {!isSelf && <p class="text-14 text-muted">Changes apply immediately.</p>}
    </FormDialog>
  );
}

function NewLink({ member, onClose }: DialogProps & { member: Member }) {
  const [url, setUrl] = useState<string | null>(null);
  const submit = useAction(async () => {
    setUrl((await call<MemberLink>("POST", `/api/members/${member.id}/link`)).url);
  });
  if (url !== null) return <LinkShown title="New link" email={member.email} url={url} onClose={onClose} />;
  return (
    <FormDialog
      title={`A new link for ${member.email}?`}
      action="Create new link"
      kind="primary"
      isThrowaway
      submit={submit}
      onClose={onClose}
    >
      <p class="text-muted">
        {member.joined_at === null
          ? "The earlier invitation link stops working."
          : "They can choose a new password with it. Their current one works until then."}
      </p>
    </FormDialog>
  );
}

interface LinkProps {
  title: string;
  email: string;
  url: string;
  onClose(): void;
}

function LinkShown({ title, email, url, onClose }: LinkProps) {
  const { people } = useSession();
  return (
    <ShownOnce title={title} action="Done" onClose={onClose}>
      <Notice>
        {people.has_mail
          ? "We've emailed it. It works once, within seven days. You won't be able to see it again."
          : `Send this link to ${email} yourself: this server doesn't send email yet. It works once, within seven days. You won't be able to see it again.`}
      </Notice>
      <Snippet text={url} copyLabel="Copy the link" />
    </ShownOnce>
  );
}

function Remove({ member, onChanged, onClose }: DialogProps & { member: Member }) {
  return (
    <ConfirmDelete
      title={`Remove ${member.name ?? member.email}?`}
      action="Remove"
      path={`/api/members/${member.id}`}
      done="Removed."
      onDone={onChanged}
      onClose={onClose}
    >
      <p>
        They're signed out everywhere immediately. Conversations that they have are answered by the companions again,
        and those assigned to them are no one's. What they wrote stays. Their address can be invited again.
      </p>
    </ConfirmDelete>
  );
}
