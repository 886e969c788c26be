/** `/app/accounts`: operators add, change, suspend and delete accounts. */
import { Plus } from "lucide-preact";
import { useState } from "preact/hooks";
import { ManageAccount } from "../accounts/manage-account.tsx";
import { NewAccount } from "../accounts/new-account.tsx";
import { type LoadedStops, SpendingSection, stopOf } from "../accounts/spending-stops.tsx";
import { useList, useLoad, useSettled } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import type { Account } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { type Column, List, SearchField } from "../ui/list.tsx";
import { PageHead, Time } from "../ui/page.tsx";
import { Badge, Empty } from "../ui/states.tsx";

export default function AccountsPage() {
  const { account: own } = useSession();
  const [text, setText] = useState("");
  const q = useSettled(text.trim());
  const list = useList<Account>("/api/accounts", { q });
  const stops: LoadedStops = useLoad("/api/spending-stops");
  const [isAdding, setIsAdding] = useState(false);
  const [managed, setManaged] = useState<Account | null>(null);
  const columns: readonly Column<Account>[] = [
    {
      title: "Account",
      cell: (account) => (
        <span class="wrap-anywhere">
          <bdi>
            {account.email.slice(0, account.email.lastIndexOf("@"))}
            <wbr />
            {account.email.slice(account.email.lastIndexOf("@"))}
          </bdi>{" "}
          {account.id === own.id && <Badge>You</Badge>}
        </span>
      ),
    },
    { title: "Plan", cell: ({ plan }) => (plan === "paid" ? <Badge tone="accent">Paid</Badge> : "Free") },
    { title: "Role", cell: ({ role }) => (role === "operator" ? "Operator" : "Owner") },
    {
      title: "Status",
      cell: ({ id, suspended_at }) =>
        suspended_at !== null ? (
          <Badge tone="bad">Suspended</Badge>
        ) : stopOf(stops, id) ? (
          <Badge tone="bad">Spending stopped</Badge>
        ) : (
          "Active"
        ),
    },
    { title: "Created", onPhone: "titled", class: "text-muted", cell: ({ created_at }) => <Time at={created_at} /> },
    { title: "", class: "text-right", cell: (account) => <Button onClick={() => setManaged(account)}>Manage…</Button> },
  ];
  return (
    <>
      <PageHead
        title="Accounts"
        actions={
          <Button icon={Plus} kind="primary" onClick={() => setIsAdding(true)}>
            New account
          </Button>
        }
      >
        Everyone with access to this server.
      </PageHead>
      <SpendingSection stops={stops} />
      <SearchField class="mb-4 lg:max-w-md" label="Search by email or ID" value={text} onValue={setText} />
      <List
        label="Accounts"
        columns={columns}
        list={list}
        empty={<Empty title="No matching accounts">Try another part of the email address.</Empty>}
      />
      {isAdding && <NewAccount onMade={list.reload} onClose={() => setIsAdding(false)} />}
      {managed && (
        <ManageAccount
          account={managed}
          isOwn={managed.id === own.id}
          stops={stops}
          onChanged={async (account) => {
            setManaged(account);
            await list.reload();
          }}
          onClose={() => setManaged(null)}
        />
      )}
    </>
  );
}
