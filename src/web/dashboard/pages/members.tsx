/** `/app/members`: the people who work with the account's companions: invited, changed, given another link, removed. */
import { Link, Pencil, Plus, UserRoundX } from "lucide-preact";
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
import { RowActions } from "../ui/menu.tsx";
import { PageHead, Time } from "../ui/page.tsx";
import { Badge, Empty, Notice } from "../ui/states.tsx";

const MemberDialog = lazy(async () => (await import("../members/member-dialogs.tsx")).MemberDialog);

const acts = [
  { what: "edit", label: "Edit…", Icon: Pencil },
  { what: "link", label: "New link…", Icon: Link },
  { what: "remove", label: "Remove…", Icon: UserRoundX, isRisk: true },
] as const;

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
      cell: (member) => (
        <span class="block min-w-0">
          <span dir="auto" class="font-medium wrap-anywhere">
            {member.name ?? member.email}
          </span>{" "}
          {member.id === ownId && <Badge>You</Badge>} {member.joined_at === null && <Badge tone="warn">Invited</Badge>}
          {member.name !== null && (
            <span dir="ltr" class="block text-13 text-muted wrap-anywhere">
              {member.email}
            </span>
          )}
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
      onPhone: ({ has_totp }) => (has_totp ? "Two-factor on" : "No two-factor"),
      cell: ({ has_totp }) => (has_totp ? <Badge tone="good">On</Badge> : "Off"),
    },
    {
      title: "Joined",
      onPhone: "titled",
      class: "text-muted",
      cell: ({ joined_at }) => joined_at && <Time at={joined_at} />,
    },
    {
      title: "",
      class: "text-right",
      cell: (member) =>
        member.id !== session.account.id && (
          <RowActions
            name={member.email}
            items={acts
              .filter(({ what }) => what !== "remove" || member.id !== ownId)
              .map(({ what, ...item }) => ({ ...item, onChoose: () => setAsked({ what, member }) }))}
          />
        ),
    },
  ];
  return (
    <>
      <PageHead title="Members" actions={invite}>
        Owners manage everything. Responders read conversations and answer visitors.
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
  if (ids === null) return <>All companions</>;
  if (ids.length === 0) return <>No companions</>;
  const shown = ids.slice(0, 3).map((id) => names[id] ?? "a companion");
  const more = ids.length - shown.length;
  return (
    <span dir="auto" class="wrap-anywhere">
      {shown.join(", ")}
      {more > 0 && ` and ${more} more`}
    </span>
  );
}
