/** `/app/leads`: contacts that visitors have left. */
import { MessageSquareText, Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { CompanionChip } from "../companion/companion-picker.tsx";
import { toSearch } from "../lib/api.ts";
import { useCompanionNames } from "../lib/companion-names.ts";
import { useList } from "../lib/load.ts";
import { navigate, useSearch } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import type { Lead } from "../lib/types.ts";
import { Filters } from "../ui/chips.tsx";
import { useCsv } from "../ui/csv-button.tsx";
import { ConfirmDelete } from "../ui/dialog.tsx";
import { ListFrame, Table } from "../ui/list.tsx";
import { RowActions } from "../ui/menu.tsx";
import { PageHead, Time } from "../ui/page.tsx";
import { Empty } from "../ui/states.tsx";

type Row = Lead & { id: string };

export default function LeadsPage() {
  const companionId = useSearch().get("companion_id") ?? "";
  const list = useList<Row>("/api/leads", { companion_id: companionId });
  const names = useCompanionNames(list.items.map(({ companion_id }) => companion_id));
  const mayChange = useSession().scopes.includes("conversations:write");
  const [asked, setAsked] = useState<Row | null>(null);
  const csv = useCsv(`/api/leads${toSearch({ companion_id: companionId })}`, "leads.csv");
  const empty = (
    <Empty title="No leads yet">
      Visitors can leave an email address once you let them: under Settings of a companion, in People.
    </Empty>
  );
  return (
    <>
      <PageHead title="Leads" actions={csv.button}>
        Visitors who asked you to get in touch.
      </PageHead>
      {csv.problem}
      <Filters class="mb-4">
        <CompanionChip />
      </Filters>
      <ListFrame list={list} empty={empty}>
        {() => (
          <Table
            label="Leads"
            rows={list.items}
            keyOf={({ conversation_id }) => conversation_id}
            columns={[
              { title: "Contact", cell: (lead) => <Contact lead={lead} /> },
              {
                title: "Companion",
                cell: ({ companion_id }) => <span dir="auto">{names[companion_id] ?? "Deleted companion"}</span>,
              },
              {
                title: "Agreed",
                class: "whitespace-nowrap text-muted",
                cell: ({ consented_at, consent_text }) => (
                  <span title={consent_text}>
                    <Time at={consented_at} />
                  </span>
                ),
              },
              {
                title: "",
                cell: (lead) => (
                  <RowActions
                    name={lead.email ?? "this lead"}
                    items={
                      mayChange
                        ? [{ label: "Delete…", Icon: Trash2, isRisk: true, onChoose: () => setAsked(lead) }]
                        : []
                    }
                    first={openOf(lead)}
                  />
                ),
              },
            ]}
          />
        )}
      </ListFrame>
      {asked !== null && (
        <ConfirmDelete
          title="Delete this lead?"
          path={`/api/leads/${asked.conversation_id}`}
          done="Lead deleted."
          onDone={() => list.update((items) => items.filter((item) => item.conversation_id !== asked.conversation_id))}
          onClose={() => setAsked(null)}
        >
          The contact is removed. The conversation stays.
        </ConfirmDelete>
      )}
    </>
  );
}

function openOf({ conversation_id }: Lead) {
  const href = `/app/conversations/${conversation_id}`;
  return { label: "Open conversation", Icon: MessageSquareText, href, onChoose: () => navigate(href) };
}

function Contact({ lead: { email, name, message } }: { lead: Lead }) {
  if (email === null) return <span class="text-muted">Can't be read: the server's key has changed.</span>;
  return (
    <span class="min-w-0">
      <a
        dir="ltr"
        class="font-medium wrap-anywhere hover:text-accent hover:underline"
        href={`mailto:${encodeURIComponent(email)}`}
      >
        {email}
      </a>
      {name !== null && (
        <span dir="auto" class="block text-13 text-muted wrap-anywhere">
          {name}
        </span>
      )}
      {message !== null && (
        <span dir="auto" class="mt-1 block max-w-md text-13 wrap-anywhere whitespace-pre-wrap">
          {message}
        </span>
      )}
    </span>
  );
}
