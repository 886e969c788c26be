/** `/app/companions/:id/playground`: tries a companion, as its owner who sees what was sent, or as a visitor. */
import { useState } from "preact/hooks";
import type { Surroundings } from "../chat/chat-stage.tsx";
import { CompareTrial, OwnerTrial } from "../chat/owner-trial.tsx";
import { type CompanionPageProps, companionPage } from "../companion/companion-frame.tsx";
import { replaceSearch, useSearch } from "../lib/router.ts";
import { lazy } from "../ui/lazy.tsx";
import { Segments } from "../ui/segments.tsx";

const VisitorTrial = lazy(async () => (await import("../chat/visitor-trial.tsx")).VisitorTrial);

export default companionPage(Playground);

const kinds = {
  owner: { name: "As yourself", hint: "Not saved. Counts towards today's messages and usage.", Trial: OwnerTrial },
  visitor: {
    name: "As a visitor",
    hint: "Saved like any visitor's chat; all limits apply. Visitors get no details of replies: they are under Conversations.",
    Trial: VisitorTrial,
  },
  compare: {
    name: "Side by side",
    hint: "Both versions answer each message. Not saved; each reply counts.",
    Trial: CompareTrial,
  },
} as const;
type Kind = keyof typeof kinds;

const names = { owner: kinds.owner.name, visitor: kinds.visitor.name, compare: kinds.compare.name };

function Playground({ companion }: CompanionPageProps) {
  const asked = useSearch().get("as") ?? "";
  const as: Kind = asked in kinds ? (asked as Kind) : "owner";
  const { Trial, hint } = kinds[as];
  const [theme, setTheme] = useState<Surroundings["theme"]>(() =>
    matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
  );
  const [screen, setScreen] = useState<Surroundings["screen"]>("desktop");
  return (
    <>
      <div class="mb-4 flex flex-wrap items-center gap-x-3 gap-y-2">
        <Segments
          label="Try it"
          value={as}
          onValue={(next) => replaceSearch({ as: next === "owner" ? null : next })}
          options={names}
        />
        <p class="min-w-0 flex-1 basis-56 text-13 text-muted">{hint}</p>
        <div class="flex flex-wrap gap-2 max-sm:hidden">
          <Segments
            label="Page"
            value={theme}
            onValue={(next) => setTheme(next)}
            options={{ light: "Light", dark: "Dark" }}
          />
          <Segments
            label="Screen"
            value={screen}
            onValue={(next) => setScreen(next)}
            options={{ desktop: "Desktop", phone: "Phone" }}
          />
        </div>
      </div>
      <Trial companion={companion} surroundings={{ theme, screen }} />
    </>
  );
}
