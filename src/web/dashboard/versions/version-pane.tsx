/** One version: who made it and why, what differs from another one, all that it sets, and the step back to it. */
import { ChevronLeft, History } from "lucide-preact";
import { useState } from "preact/hooks";
import { formatInstant } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { replaceSearch, useSearch } from "../lib/router.ts";
import type { Companion, CompanionVersion, FieldChange, WholeCompanionVersion } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { SelectField } from "../ui/select.tsx";
import { Badge, Pending } from "../ui/states.tsx";
import { ChangeList } from "./change-list.tsx";
import { RestoreDialog } from "./restore-dialog.tsx";
import { versionsPath } from "./use-versions.ts";
import { describeOrigin, titleField, toText } from "./words.ts";

interface PaneProps {
  companion: Companion;
  number: number;
  /** Those that are listed, newest first. */
  versions: readonly CompanionVersion[];
  onRestored(companion: Companion): void;
}

export function VersionPane({ companion, number, versions, onRestored }: PaneProps) {
  const path = versionsPath(companion.id);
  const loaded = useLoad<WholeCompanionVersion>(`${path}/${number}`);
  const [isAsked, setIsAsked] = useState(false);
  const version = loaded.data;
  const newest = versions[0]?.number ?? number;
  return (
    <section aria-label={`Version ${number}`} class="card min-w-0 p-4 sm:p-6">
      <a href="?" class="mb-2 -ml-1 inline-flex items-center gap-1 text-muted hover:text-ink md:hidden">
        <ChevronLeft size={16} aria-hidden="true" />
        All versions
      </a>
      <div class="mb-4 flex flex-wrap items-start justify-between gap-3">
        <div class="min-w-0 flex-1 basis-56">
          <h2 class="text-16 font-semibold">
            Version {number} {number === newest && <Badge tone="good">Live</Badge>}
          </h2>
          {version && (
            <p class="mt-0.5 text-14 text-muted wrap-anywhere">
              <time dateTime={version.created_at}>{formatInstant(version.created_at)}</time>
              {describeOrigin(version) && <span dir="auto">, {describeOrigin(version)}</span>}
            </p>
          )}
          {version?.note && (
            <p dir="auto" class="mt-1.5 wrap-anywhere whitespace-pre-wrap">
              {version.note}
            </p>
          )}
        </div>
        {version && number !== newest && (
          <Button icon={History} onClick={() => setIsAsked(true)}>
            Restore…
          </Button>
        )}
      </div>
      {version ? (
        <>
          <Comparison path={path} number={number} versions={versions} />
          <AllSettings settings={version.settings} />
        </>
      ) : (
        <Pending of={loaded} lines={5} />
      )}
      {isAsked && (
        <RestoreDialog
          companion={companion}
          number={number}
          newest={newest}
          onRestored={onRestored}
          onClose={() => setIsAsked(false)}
        />
      )}
    </section>
  );
}

function Comparison({
  path,
  number,
  versions,
}: {
  path: string;
  number: number;
  versions: readonly CompanionVersion[];
}) {
  const asked = Number(useSearch().get("with"));
  const before = versions.find((version) => version.number < number)?.number ?? (number > 1 ? number - 1 : null);
  const other = asked > 0 && asked !== number ? asked : before;
  const [from = number, to = number] = other === null ? [] : [number, other].sort((one, two) => one - two);
  const loaded = useLoad<{ changes: FieldChange[] }>(other === null ? null : `${path}/${from}/diff?to=${to}`);
  const options = versions
    .filter((version) => version.number !== number)
    .map((version) => ({
      value: String(version.number),
      label: `Version ${version.number}${version.number === before ? " (previous)" : ""}`,
    }));
  if (other === null && options.length === 0) {
    return <p class="text-muted">No changes yet. This is how you created it.</p>;
  }
  return (
    <>
      <SelectField
        label="Compare with"
        class="mb-5 max-w-xs"
        value={String(other ?? "")}
        onValue={(value) => replaceSearch({ with: value })}
        options={other === null ? [{ value: "", label: "Choose a version" }, ...options] : options}
      />
      {other === null ? (
        <p class="text-muted">This is the first version.</p>
      ) : (
        <>
          <p class="mb-4 text-14 text-muted">
            From version {from} to version {to}
          </p>
          {loaded.data ? <ChangeList changes={loaded.data.changes} /> : <Pending of={loaded} lines={4} />}
        </>
      )}
    </>
  );
}

function AllSettings({ settings }: { settings: object }) {
  const set = Object.entries(settings).filter(([, value]) => toText(value) !== "");
  return (
    <details class="mt-6 border-t border-line pt-4">
      <summary class="text-accent">All settings</summary>
      <dl class="mt-3 space-y-3">
        {set.map(([field, value]) => (
          <div key={field}>
            <dt class="text-13 text-muted">{titleField(field)}</dt>
            <dd dir="auto" class="wrap-anywhere whitespace-pre-wrap">
              {toText(value)}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
