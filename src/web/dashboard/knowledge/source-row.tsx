/** One source: how far it is read, what is wrong with it, and what can be done. */
import { BookOpen, File, FileText, Globe, Network, Pencil, RefreshCw, Trash2 } from "lucide-preact";
import { call } from "../lib/api.ts";
import { countOf } from "../lib/format.ts";
import { useAction } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import type { Source } from "../lib/types.ts";
import { WebLink } from "../ui/links.tsx";
import { RowActions } from "../ui/menu.tsx";
import { Time } from "../ui/page.tsx";
import { Row } from "../ui/row-list.tsx";
import { Badge } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { describeState, findRemedy, isUnderWay, typeNames } from "./source-words.ts";
import { ProgressBar } from "./uploads.tsx";

const changeWords = { text: "Edit", file: "Replace", url: "Edit", sitemap: "Edit" };
const icons = { text: FileText, file: File, url: Globe, sitemap: Network };

export type SourceAct = "passages" | "replace" | "delete";

interface SourceRowProps {
  source: Source;
  /** Of the companion's sources. */
  path: string;
  onChanged(source: Source): void;
  onFailed(error: unknown): void;
  onAct(act: SourceAct): void;
}

export function SourceRow({ source, path, onChanged, onFailed, onAct }: SourceRowProps) {
  const mayChange = useSession().scopes.includes("knowledge:write");
  const { title, type, url, progress, error } = source;
  const Icon = icons[type];
  const state = describeState(source);
  const refresh = useAction(async () => {
    try {
      onChanged(await call<Source>("POST", `${path}/${source.id}/refresh`));
      say("Refreshing.");
    } catch (failure) {
      onFailed(failure);
    }
  });
  const isFetched = type === "url" || type === "sitemap";
  const items = mayChange
    ? [
        ...(isFetched && !isUnderWay(source) && !refresh.isBusy
          ? [{ label: "Refresh", Icon: RefreshCw, onChoose: () => void refresh.run() }]
          : []),
        { label: `${changeWords[type]}…`, Icon: Pencil, onChoose: () => onAct("replace") },
        { label: "Delete…", Icon: Trash2, isRisk: true, onChoose: () => onAct("delete") },
      ]
    : [];
  return (
    <Row
      actions={
        <RowActions
          name={title}
          items={items}
          first={source.chunks > 0 && { label: "Passages", Icon: BookOpen, onChoose: () => onAct("passages") }}
        />
      }
    >
      <div class="flex min-w-0 items-start gap-3">
        <Icon size={18} aria-hidden="true" class="mt-0.5 shrink-0 text-muted" />
        <div class="min-w-0 flex-1">
          <div class="flex flex-wrap items-center gap-x-3 gap-y-1">
            <h3 class="min-w-0 font-medium wrap-anywhere" dir="auto">
              {title === url ? <WebLink url={url}>{url}</WebLink> : title}
            </h3>
            <Badge tone={state.tone}>{state.label}</Badge>
          </div>
          {url !== null && url !== title && (
            <p class="mt-0.5 text-13">
              <WebLink url={url}>{url}</WebLink>
            </p>
          )}
          <Facts source={source} />
          {source.status === "indexing" && progress !== null && progress.total !== null && progress.total > 1 && (
            <ProgressBar label={`Reading ${title}`} share={progress.done / progress.total} />
          )}
          {error !== null && (
            <p
              class={`mt-1.5 text-14 text-pretty wrap-anywhere ${source.status === "failed" ? "text-bad" : "text-warn"}`}
            >
              {error} <span class="text-muted">{findRemedy(source)}</span>
            </p>
          )}
        </div>
      </div>
    </Row>
  );
}

function Facts({ source }: { source: Source }) {
  const { type, chunks, indexed_at, refresh_at, refresh_hours } = source;
  return (
    <p class="mt-0.5 flex flex-wrap gap-x-3 text-13 text-muted tabular-nums">
      <span>{typeNames[type]}</span>
      {(chunks > 0 || source.status === "ready") && <span>{countOf(chunks, "passage")}</span>}
      {indexed_at !== null && (
        <span>
          read <Time at={indexed_at} />
        </span>
      )}
      {refresh_at !== null ? (
        <span>
          next refresh <Time at={refresh_at} />
        </span>
      ) : (
        refresh_hours !== null && source.status === "failed" && <span>automatic refresh stopped</span>
      )}
    </p>
  );
}
