/** `/app/companions/:id/tools`: what a companion's model may call, tried and watched. */
import { History, KeyRound, Pencil, Play, Plus, Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { type CompanionPageProps, companionPage } from "../companion/companion-frame.tsx";
import { useList } from "../lib/load.ts";
import type { Tool } from "../lib/types.ts";
import type { AskedOfTool, ToolAct } from "../tools/tool-dialog.tsx";
import { Button } from "../ui/button.tsx";
import { lazy } from "../ui/lazy.tsx";
import { ListFrame } from "../ui/list.tsx";
import { RowActions } from "../ui/menu.tsx";
import { Badge, Empty } from "../ui/states.tsx";

const ToolDialog = lazy(async () => (await import("../tools/tool-dialog.tsx")).ToolDialog);

export default companionPage(Tools);

function Tools({ companion }: CompanionPageProps) {
  const path = `/api/companions/${companion.id}/tools`;
  const list = useList<Tool>(path);
  const [asked, setAsked] = useState<AskedOfTool | null>(null);
  const create = (
    <Button icon={Plus} kind="primary" onClick={() => setAsked({ what: "create" })}>
      Add a tool
    </Button>
  );
  return (
    <>
      <div class="mb-5 flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <p class="min-w-0 flex-1 basis-64 text-pretty text-muted">
          What your companion can do for visitors. The model calls your server and passes on the result.{" "}
          <a href="/docs/guides/tools" target="_blank" rel="noreferrer" class="text-accent underline">
            How tools work
          </a>
        </p>
        {list.items.length > 0 && create}
      </div>
      <ListFrame
        list={list}
        empty={
          <Empty title="No tools yet" action={create}>
            Let your companion find an order, book a table or cancel a subscription, through your own URL or an MCP
            server.
          </Empty>
        }
      >
        {() => (
          <ul class="card" aria-label="Tools">
            {list.items.map((tool) => (
              <ToolRow key={tool.id} tool={tool} onAct={(what) => setAsked({ what, tool })} />
            ))}
          </ul>
        )}
      </ListFrame>
      {asked && <ToolDialog path={path} asked={asked} onSaved={list.reload} onClose={() => setAsked(null)} />}
    </>
  );
}

const acts = [
  { what: "edit", label: "Edit…", Icon: Pencil },
  { what: "calls", label: "Last calls", Icon: History },
  { what: "rotate", label: "New secret…", Icon: KeyRound },
  { what: "delete", label: "Delete…", Icon: Trash2, isRisk: true },
] as const;

/** One tool: what it is called, where it is, whom it is for, and what can be done with it. */
function ToolRow({ tool, onAct }: { tool: Tool; onAct(what: ToolAct): void }) {
  const { title, name, url, mcp_url, tools, confirm, requires_visitor } = tool;
  return (
    <li class="flex items-start gap-3 border-line px-4 py-3 not-last:border-b">
      <div class="min-w-0 flex-1">
        <div class="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h2 class="min-w-0 font-medium wrap-anywhere" dir="auto">
            {title}
          </h2>
          {(mcp_url !== null || name !== title) && (
            <code class="font-mono text-13 text-muted wrap-anywhere">{mcp_url === null ? name : `${name}_…`}</code>
          )}
          {requires_visitor && <Badge tone="good">Verified visitors only</Badge>}
          {confirm && <Badge tone="warn">Asks before each call</Badge>}
        </div>
        <p class="mt-0.5 text-13 text-muted wrap-anywhere">{url ?? mcp_url}</p>
        {mcp_url !== null && (
          <p class="mt-0.5 text-13 text-muted wrap-anywhere">
            MCP server: {tools === null ? "all of its tools" : tools.join(", ")}
          </p>
        )}
      </div>
      <RowActions
        name={title}
        items={acts
          // The requests of MCP are not signed.
          .filter(({ what }) => what !== "rotate" || mcp_url === null)
          .map(({ what, ...item }) => ({ ...item, onChoose: () => onAct(what) }))}
        first={{ label: "Try…", Icon: Play, onChoose: () => onAct("try") }}
      />
    </li>
  );
}
