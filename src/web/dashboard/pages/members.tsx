/** `/app/members`: the people who work with the account's companions: invited, changed, given another link, removed. */
import { Plus } from "lucide-preact";
import { useState } from "preact/hooks";
import { useCompanionNames } from "../lib/companion-names.ts";
import { useList } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import type { Member } from "../lib/types.ts";
import type { AskedOfMember } from "../members/member-dialogs.tsx";
import { isOwner, personIdOf } from "../members/who.ts";
import { Button } from "../ui/button.tsx";
import { lazy } from "../ui/lazy.tsx";
import { type Column, List } from "../ui/list.tsx";
import { PageHead, Time } from "../ui/page.tsx";
import { Badge, Empty, Notice } from "../ui/states.tsx";

const MemberDialog = lazy(async () => (await import("../members/member-dialogs.tsx")).MemberDialog);

export default function MembersPage() {
  return isOwner(useSession()) ? <Members /> : <Empty title="Only owners can see members" />;
}

function Members() {
  const session = useSession();
  const ownId = personIdOf(session);
  const list = useList<Member>("/api/members");
  const [asked, setAsked] = useState<AskedOfMember | null>(null);
  const invite = (
    <Button icon={Plus} kind="primary" onClick={() => setAsked({ what: "invite" })}>
      Invite a member
    </Button>
  );
  const columns: readonly Column<Member>[] = [
    {
      title: "Member",
      class: "title",
      cell: (member) => (
        <span class="block min-w-0">
          <span dir="auto" class="font-medium wrap-anywhere">
            {member.name ?? member.email}
          </span>{" "}
          {member.id === ownId && <Badge tone="accent">you</Badge>}{" "}
          {member.joined_at === null && <Badge tone="warn">invited</Badge>}
          {member.name !== null && <span class="block text-13 text-muted wrap-anywhere">{member.email}</span>}
        </span>
      ),
    },
    {
      title: "Role",
      cell: ({ id, role }) => (id === session.account.id ? "Account owner" : role === "owner" ? "Owner" : "Responder"),
    },
    { title: "Companions", cell: ({ companion_ids }) => <Companions ids={companion_ids} /> },
    {
      title: "Two-factor",
      cell: ({ has_totp }) => <Badge tone={has_totp ? "good" : "neutral"}>{has_totp ? "On" : "Off"}</Badge>,
    },
    { title: "Joined", class: "text-muted", cell: ({ joined_at }) => <Time at={joined_at} never="not yet" /> },
    {
      title: "",
      class: "text-right",
      cell: (member) =>
        member.id !== session.account.id && (
          <span class="flex flex-wrap justify-end gap-2 max-md:w-full">
            <Button onClick={() => setAsked({ what: "edit", member })}>
              Edit…<span class="sr-only"> {member.email}</span>
            </Button>
            <Button onClick={() => setAsked({ what: "link", member })}>
              New link…<span class="sr-only"> {member.email}</span>
            </Button>
            {member.id !== ownId && (
              <Button kind="risk" onClick={() => setAsked({ what: "remove", member })}>
                Remove…<span class="sr-only"> {member.email}</span>
              </Button>
            )}
          </span>
        ),
    },
  ];
  return (
    <>
      <PageHead title="Members" actions={invite}>
        Owners can do everything you can. Responders read conversations and answer visitors.
      </PageHead>
      {!session.people.has_mail && (
        <Notice tone="neutral" class="mb-4">
          This server doesn't send email yet. Share invitation links yourself, and keep the dashboard open to see
          waiting visitors. The operator can set up email.
        </Notice>
      )}
      <List label="Members" columns={columns} list={list} empty={<Empty title="No members yet" action={invite} />} />
      {asked && <MemberDialog asked={asked} onChanged={list.reload} onClose={() => setAsked(null)} />}
    </>
  );
}

function Companions({ ids }: { ids: readonly string[] | null }) {
  const names = useCompanionNames(ids ?? []);
  if (ids === null) return <span class="text-muted">all</span>;
  if (ids.length === 0) return <span class="text-muted">none</span>;
  const shown = ids.slice(0, 3).map((id) => names[id] ?? "a companion");
  const more = ids.length - shown.length;
  return (
    <span dir="auto" class="wrap-anywhere max-md:text-right">
      {shown.join(", ")}
      {more > 0 && ` and ${more} more`}
    </span>
  );
}
