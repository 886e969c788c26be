/** `/app/companions/:id/history`: every version of a companion, what each changed, and the step back to one. */
import { type CompanionPageProps, companionPage } from "../companion/companion-frame.tsx";
import { useSearch } from "../lib/router.ts";
import type { CompanionVersion } from "../lib/types.ts";
import { ShowMore } from "../ui/list.tsx";
import { Time } from "../ui/page.tsx";
import { Badge, Pending, Problem } from "../ui/states.tsx";
import { useVersions } from "../versions/use-versions.ts";
import { VersionPane } from "../versions/version-pane.tsx";
import { describeOrigin, nameFields } from "../versions/words.ts";

/** Loaded with this page: each separate file costs the first load its name. */
export { DraftBanner } from "../versions/draft-banner.tsx";

export default companionPage(History);

function History({ companion, onChanged }: CompanionPageProps) {
  const versions = useVersions(companion.id);
  const chosen = Number(useSearch().get("version"));
  const { items } = versions;
  if (items === null) return <Pending of={versions} lines={6} />;
  const current = items[0]?.number ?? 1;
  const opened = chosen > 0 ? chosen : current;
  return (
    <div class="grid items-start gap-4 md:grid-cols-[18rem_minmax(0,1fr)]">
      <section aria-label="Versions" class={chosen > 0 ? "max-md:hidden" : ""}>
        <ol class="card overflow-hidden">
          {items.map((version) => (
            <Row
              key={version.number}
              version={version}
              isOpen={version.number === opened}
              isCurrent={version.number === current}
            />
          ))}
        </ol>
        <Problem error={versions.error} class="mt-3" />
        {versions.hasMore && <ShowMore class="mt-3" isBusy={versions.isBusy} onMore={versions.loadMore} />}
      </section>
      {/* On phones, where the list is all there is room for, only one that was chosen. */}
      <div class={chosen > 0 ? "min-w-0" : "min-w-0 max-md:hidden"}>
        <VersionPane
          key={opened}
          companion={companion}
          number={opened}
          versions={items}
          onRestored={(restored) => {
            onChanged(restored);
            void versions.reload();
          }}
        />
      </div>
    </div>
  );
}

function Row({ version, isOpen, isCurrent }: { version: CompanionVersion; isOpen: boolean; isCurrent: boolean }) {
  const { number, created_at, note, changed } = version;
  return (
    <li class="border-line not-last:border-b">
      <a
        href={`?version=${number}`}
        aria-current={isOpen ? "true" : undefined}
        class={`block px-3.5 py-2.5 ${isOpen ? "md:bg-tint" : "hover:bg-sunken"}`}
      >
        <span class="flex items-baseline justify-between gap-2">
          <span class="font-medium">
            Version {number} {isCurrent && <Badge tone="good">Live</Badge>}
          </span>
          <span class="shrink-0 text-12 text-muted">
            <Time at={created_at} />
          </span>
        </span>
        {note !== null && (
          <span dir="auto" class="block wrap-anywhere">
            {note}
          </span>
        )}
        <span class="block text-13 text-muted wrap-anywhere">
          {changed.length > 0 ? `Changed ${nameFields(changed)}` : "First version"}
        </span>
        <span dir="auto" class="block text-12 wrap-anywhere text-muted">
          {describeOrigin(version)}
        </span>
      </a>
    </li>
  );
}
