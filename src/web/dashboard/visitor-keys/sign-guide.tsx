/** What goes onto the website: the code of its server, which signs, and of its page, which hands the token over. */
import { useState } from "preact/hooks";
import { CompanionPicker } from "../companion/companion-picker.tsx";
import { useLoad } from "../lib/load.ts";
import { describeMetadata } from "../lib/metadata-pairs.ts";
import { replaceSearch, useSearch } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import type { Companion, Page, VisitorKey } from "../lib/types.ts";
import { Snippet } from "../ui/copy.tsx";
import { Section } from "../ui/page.tsx";
import { SelectField } from "../ui/select.tsx";
import { Notice } from "../ui/states.tsx";
import { languages, pageSnippet, pairSnippet, privateKeyVariable, secretVariable } from "./snippets.ts";

/** `keys`: newest first. */
export function SignGuide({ keys }: { keys: readonly VisitorKey[] }) {
  const { server } = useSession();
  const companion = useChosenCompanion();
  const [language, setLanguage] = useState(languages[0]?.name ?? "");
  const [keyId, setKeyId] = useState("");
  const key = keys.find(({ id }) => id === keyId) ?? keys[0];
  if (key === undefined) return null;
  const facts = { companionId: companion?.id ?? "COMPANION_ID", keyId: key.id };
  const { algorithm } = key;
  const isPair = algorithm !== "HS256";
  const chosen = languages.find(({ name }) => name === language) ?? languages[0];
  const code = algorithm === "HS256" ? (chosen?.snippet(facts) ?? "") : pairSnippet(algorithm, facts);
  return (
    <>
      <Section
        title="On your server"
        hint="Signs a token for the visitor signed in to your website: for one companion, valid for an hour."
      >
        <div class="mb-5 grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
          <CompanionPicker
            value={companion?.id ?? ""}
            everyone={null}
            onValue={(companion_id) => replaceSearch({ companion_id })}
          />
          {keys.length > 1 && (
            <SelectField
              label="Key"
              value={key.id}
              onValue={setKeyId}
              options={keys.map(({ id, name }) => ({ value: id, label: name }))}
              hint={describeReach(key)}
            />
          )}
          {!isPair && (
            <SelectField
              label="Language"
              value={language}
              onValue={setLanguage}
              options={languages.map(({ name }) => ({ value: name, label: name }))}
            />
          )}
        </div>
        {companion?.visitor_auth === "off" && (
          <Notice class="mb-5">
            <span dir="auto">{companion.name}</span> doesn't accept tokens yet: turn on <em>Verify visitors</em> in{" "}
            <a class="underline underline-offset-2" href={`/app/companions/${companion.id}/settings?section=visitors`}>
              its settings
            </a>
            .
          </Notice>
        )}
        <Snippet text={code} />
        <p class="mt-3 text-14 text-pretty text-muted">
          {isPair ? (
            <>
              It reads the private key from the file that <Code>{privateKeyVariable}</Code> names. In another language,
              any JWT library signs the same header and claims with {algorithm}.
            </>
          ) : (
            <>
              It reads the secret from <Code>{secretVariable}</Code>.
            </>
          )}{" "}
          <Code>sub</Code> is your own ID for the visitor, and must never be reused; <Code>name</Code>,{" "}
          <Code>email</Code> and an object <Code>attributes</Code> are optional.
        </p>
      </Section>
      <Section
        title="In your page"
        hint="On every page. The widget asks your server for a token when it needs one, and for a new one before that ends."
      >
        <Snippet text={pageSnippet(server.base_url, companion?.embed_token ?? "EMBED_TOKEN")} />
        <p class="mt-3 text-14 text-pretty text-muted">
          If no one is signed in, your server responds with 401, and the visitor is anonymous. When someone signs out,
          call <Code>chat.identify(null)</Code>: it removes their data from the browser.
        </p>
      </Section>
    </>
  );
}

function Code({ children }: { children: string }) {
  return <code class="font-mono text-[0.92em]">{children}</code>;
}

/** The one in the address; without one, the newest. */
function useChosenCompanion(): Companion | null {
  const id = useSearch().get("companion_id");
  const named = useLoad<Companion>(id === null ? null : `/api/companions/${encodeURIComponent(id)}`);
  const newest = useLoad<Page<Companion>>(id === null ? "/api/companions?limit=1" : null);
  return named.data ?? newest.data?.data[0] ?? null;
}

/** Which companions a visitor key vouches for, in words. */
export function describeReach({ metadata }: VisitorKey): string {
  return metadata === null ? "All companions" : `Companions with ${describeMetadata(metadata)}`;
}
