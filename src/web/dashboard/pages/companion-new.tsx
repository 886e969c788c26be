/** `/app/companions/new`. */
import { useEffect, useState } from "preact/hooks";
import { type Draft, emptyDraft, toNewBody } from "../companion/draft.ts";
import { Editor } from "../companion/editor.tsx";
import { call } from "../lib/api.ts";
import { navigate, releaseGuard } from "../lib/router.ts";
import type { Companion } from "../lib/types.ts";
import { PageHead } from "../ui/page.tsx";
import { say } from "../ui/toast.tsx";

export default function NewCompanionPage() {
  const [kept] = useState(emptyDraft);
  async function create(draft: Draft): Promise<void> {
    const made = await call<Companion>("POST", "/api/companions", { body: toNewBody(draft) });
    releaseGuard();
    say(`${made.name} is ready. Try it, then put it on your website.`);
    navigate(`/app/companions/${made.id}/install`, { replace: true });
  }
  // After the heading had it, which is announced all the same.
  useEffect(() => document.querySelector<HTMLElement>("#profile input")?.focus(), []);
  return (
    <div class="mx-auto max-w-3xl">
      <PageHead title="New companion" back={{ href: "/app/companions", label: "Companions" }}>
        Only the name is required. You can change everything later.
      </PageHead>
      <Editor kept={kept} target="new" onSave={create} />
    </div>
  );
}
