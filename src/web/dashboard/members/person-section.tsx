/** Who a person is to visitors, and what the server emails them. */
import { useEffect, useState } from "preact/hooks";
import { call, changedFields, fieldProblem } from "../lib/api.ts";
import { useAction, useLoad } from "../lib/load.ts";
import { refreshSession, useSession } from "../lib/session.ts";
import type { Member } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { CheckField, Form, FormProblem, TextField } from "../ui/field.tsx";
import { Section } from "../ui/page.tsx";
import { Pending } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

const path = "/api/members/me";

export function PersonSection() {
  const loaded = useLoad<Member>(path);
  return (
    <Section title="You" hint="Your name for visitors, and how we let you know when someone's waiting.">
      {loaded.data === null ? (
        <Pending of={loaded} lines={2} />
      ) : (
        <PersonForm member={loaded.data} onSaved={loaded.set} />
      )}
    </Section>
  );
}

function PersonForm({ member, onSaved }: { member: Member; onSaved(member: Member): void }) {
  const { people } = useSession();
  const [name, setName] = useState(member.name ?? "");
  const [notify, setNotify] = useState(member.notify);
  useEffect(() => {
    setName(member.name ?? "");
    setNotify(member.notify);
  }, [member]);
  const save = useAction(async () => {
    const before = { name: member.name ?? "", notify: member.notify };
    onSaved(await call<Member>("PATCH", path, { body: changedFields(before, { name: name.trim(), notify }) }));
    say("Saved.");
    await refreshSession();
  });
  return (
    <Form class="space-y-4" onSubmit={() => void save.run()}>
      <TextField
        label="Your name"
        maxLength={60}
        value={name}
        onValue={setName}
        error={fieldProblem(save.error, "name")}
        hint={member.name === null ? "Until then, visitors see the companion's name." : undefined}
      />
      <div class="space-y-3">
        <CheckField
          label="Email me when a visitor is waiting for a person"
          hint={
            people.has_mail
              ? "Immediately if no one is available, otherwise after a minute."
              : "This server doesn't send email yet."
          }
          checked={notify.mail}
          onChecked={(mail) => setNotify({ ...notify, mail })}
        />
        {notify.mail && (
          <CheckField
            label="Include what the visitor wrote"
            hint="Otherwise the email only has a link."
            checked={notify.words}
            onChecked={(words) => setNotify({ ...notify, words })}
          />
        )}
      </div>
      <FormProblem error={save.error} fields={["name"]} />
      <Button type="submit" isBusy={save.isBusy} disabled={name.trim() === "" && member.name !== null}>
        Save
      </Button>
    </Form>
  );
}
