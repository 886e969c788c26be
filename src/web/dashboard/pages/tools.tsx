/** `/app/companions/:id/tools`: what a companion's model may call, tried and watched. */
import { Plus } from "lucide-preact";
import { useState } from "preact/hooks";
import { CompanionFrame } from "../companion/companion-frame.tsx";
import { useList } from "../lib/load.ts";
import type { Params } from "../lib/router.ts";
import type { Tool } from "../lib/types.ts";
import type { AskedOfTool, ToolAct } from "../tools/tool-dialog.tsx";
import { Button } from "../ui/button.tsx";
import { lazy } from "../ui/lazy.tsx";
import { type Column, List } from "../ui/list.tsx";
import { Badge, Empty } from "../ui/states.tsx";

const ToolDialog = lazy(async () => (await import("../tools/tool-dialog.tsx")).ToolDialog);

export default function ToolsPage({ params }: { params: Params }) {
  return <CompanionFrame id={params.id ?? ""}>{({ id }) => <Tools key={id} companionId={id} />}</CompanionFrame>;
}

function Tools({ companionId }: { companionId: string }) {
  const path = `/api/companions/${companionId}/tools`;
  const list = useList<Tool>(path);
  const [asked, setAsked] = useState<AskedOfTool | null>(null);
  const create = (
    <Button icon={Plus} kind="primary" onClick={() => setAsked({ what: "create" })}>
      Add a tool
    </Button>
  );
  const columns: readonly Column<Tool>[] = [
    { title: "Tool", class: "title", cell: (tool) => <ToolName tool={tool} /> },
    { title: "For", cell: (tool) => <ToolRules tool={tool} /> },
    {
      title: "",
      class: "text-right",
      cell: (tool) => {
        const button = (what: ToolAct, label: string, kind: "secondary" | "risk" = "secondary") => (
          <Button kind={kind} onClick={() => setAsked({ what, tool })}>
            {label}
            <span class="sr-only"> {tool.title}</span>
          </Button>
        );
        return (
          <span class="flex flex-wrap justify-end gap-2 max-md:w-full">
            {button("try", "Try…")}
            {button("calls", "Last calls")}
            {button("edit", "Edit…")}
            {tool.mcp_url === null && button("rotate", "New secret…")}
            {button("delete", "Delete…", "risk")}
          </span>
        );
      },
    },
  ];
  return (
    <>
      <div class="mb-5 flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <p class="min-w-0 flex-1 basis-64 text-pretty text-muted">
          What it can do for visitors: the model calls your server, and tells the visitor what came of it.{" "}
          <a href="/docs/guides/tools" target="_blank" rel="noreferrer" class="text-accent underline">
            What your server receives
          </a>
        </p>
        {list.items.length > 0 && create}
      </div>
      <List
        label="Tools"
        columns={columns}
        list={list}
        empty={
          <Empty title="No tools yet" action={create}>
            With a tool it finds an order, books a table or cancels a subscription: at a URL of yours, or at an MCP
            server.
          </Empty>
        }
      />
      {asked && <ToolDialog path={path} asked={asked} onSaved={list.reload} onClose={() => setAsked(null)} />}
    </>
  );
}

function ToolName({ tool: { title, name, url, mcp_url, tools } }: { tool: Tool }) {
  return (
    <span class="block min-w-0">
      <span class="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span dir="auto" class="font-medium wrap-anywhere">
          {title}
        </span>
        <code class="font-mono text-[0.86rem] text-muted wrap-anywhere">{mcp_url === null ? name : `${name}_…`}</code>
      </span>
      <span class="block text-[0.86rem] text-muted wrap-anywhere">{url ?? mcp_url}</span>
      {mcp_url !== null && (
        <span class="block text-[0.86rem] text-muted wrap-anywhere">
          MCP server: {tools === null ? "all of its tools" : tools.join(", ")}
        </span>
      )}
    </span>
  );
}

function ToolRules({ tool: { requires_visitor, confirm } }: { tool: Tool }) {
  return (
    <span class="flex flex-wrap gap-1">
      {requires_visitor ? <Badge tone="good">verified visitors</Badge> : <span>Everyone</span>}
      {confirm && <Badge tone="warn">asks before each call</Badge>}
    </span>
  );
}
