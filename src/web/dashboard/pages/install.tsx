/** `/app/companions/:id/install`: how the companion gets onto a website, and its embed tokens. */
import { useState } from "preact/hooks";
import { type CompanionPageProps, companionPage } from "../companion/companion-frame.tsx";
import { EmbedTokens } from "../companion/embed-tokens.tsx";
import { guides, judgeAddress } from "../companion/install-guides.ts";
import { useList } from "../lib/load.ts";
import { visitorKeysPath } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import type { EmbedToken } from "../lib/types.ts";
import { CopyButton, Snippet } from "../ui/copy.tsx";
import { Section } from "../ui/page.tsx";
import { SelectField } from "../ui/select.tsx";
import { Empty, Notice } from "../ui/states.tsx";

export default companionPage(Install);

function Install({ companion }: CompanionPageProps) {
  const { server } = useSession();
  const tokens = useList<EmbedToken>(`/api/companions/${companion.id}/embed-tokens`);
  const [chosen, setChosen] = useState("");
  const [guideName, setGuideName] = useState(guides[0]?.name ?? "");
  const guide = guides.find(({ name }) => name === guideName) ?? guides[0];
  const token = tokens.items.find(({ id }) => id === chosen) ?? tokens.items.at(-1);
  const page = token && `${server.base_url}/c/${token.token}`;
  return (
    <div class="space-y-6">
      <Section title="On your website" hint="One line of code. It won't slow your page down.">
        {!companion.enabled && (
          <Notice class="mb-4">Your companion is paused. Visitors won't see it until you resume it.</Notice>
        )}
        <AddressNotice />
        {token && guide ? (
          <div class="space-y-5">
            <div class="grid gap-4 sm:grid-cols-2">
              <SelectField
                label="Platform"
                value={guide.name}
                onValue={setGuideName}
                options={guides.map(({ name }) => ({ value: name, label: name }))}
              />
              {tokens.items.length > 1 && (
                <SelectField
                  label="Embed token"
                  value={token.id}
                  onValue={setChosen}
                  options={tokens.items.map(({ id, name, token }) => ({
                    value: id,
                    label: name ?? token.slice(0, 12),
                  }))}
                />
              )}
            </div>
            <ol class="list-decimal space-y-1.5 pl-5 marker:text-muted">
              {guide.steps.map((step) => (
                <li key={step}>{step}</li>
              ))}
            </ol>
            <Snippet text={guide.snippet(server.base_url, token.token)} />
            {companion.visitor_auth !== "off" && (
              <p class="text-14 text-pretty text-muted">
                Your companion verifies visitors. To identify signed-in ones, your page needs{" "}
                <a
                  href={`${visitorKeysPath}?companion_id=${companion.id}`}
                  class="whitespace-nowrap text-accent underline"
                >
                  a little more code
                </a>
                .{companion.visitor_auth === "required" && " Without it, no one gets an answer."}
              </p>
            )}
            {companion.allowed_origins.length > 0 && (
              <p class="text-14 text-muted">
                Works only on: <span dir="ltr">{companion.allowed_origins.join(", ")}</span>
              </p>
            )}
          </div>
        ) : (
          !tokens.isLoading && <Empty title="No embed token">Add one below to get your snippet.</Empty>
        )}
      </Section>
      {page && (
        <Section title="Share a link" hint="A page with just the chat, for messages, profiles and QR codes.">
          <div class="flex flex-wrap items-center gap-3">
            <a href={page} target="_blank" rel="noreferrer" class="min-w-0 flex-1 text-accent underline wrap-anywhere">
              {page}
            </a>
            <CopyButton text={page} label="Copy link" />
          </div>
          {companion.visitor_auth !== "off" && (
            <p class="mt-4 text-14 text-pretty text-muted">
              For verified visitors, add <code class="font-mono text-[0.92em]">#visitor=</code> and their token to the
              link.
              {companion.visitor_auth === "required" && " Without it, the page shows only an error."}
            </p>
          )}
        </Section>
      )}
      <EmbedTokens companion={companion} tokens={tokens} />
    </div>
  );
}

/** Shows beside a snippet why it would not work on a website yet, and what to do about that. */
function AddressNotice() {
  const { server, account } = useSession();
  const problem = judgeAddress(server.base_url);
  if (problem === null) return null;
  return (
    <Notice class="mb-4">
      {problem === "loopback"
        ? "This snippet works only on this computer, because the server's address is local. "
        : "Websites on https block this snippet, because the server's address isn't https. "}
      {account.role === "operator" ? (
        <>
          Make the server available over https, with <code class="font-mono whitespace-nowrap">--domain</code> or a
          proxy, set <code class="font-mono">COMPANIOND_PUBLIC_URL</code> to that address, restart, then copy the
          snippet.
        </>
      ) : (
        <>
          Ask your operator to set <code class="font-mono">COMPANIOND_PUBLIC_URL</code> to a public https address, then
          copy the snippet.
        </>
      )}
    </Notice>
  );
}
