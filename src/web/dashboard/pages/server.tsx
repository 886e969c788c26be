/** `/app/server`: for operators, whether everything that the server needs works, and what to do where not. */
import { CircleAlert, CircleCheck, CircleMinus, RefreshCw, TriangleAlert } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { countOf, formatNumber } from "../lib/format.ts";
import { useAction, useLoad } from "../lib/load.ts";
import type { Server } from "../lib/types.ts";
import { ModelTest } from "../server/model-test.tsx";
import { Button } from "../ui/button.tsx";
import { PageHead, Section, Time } from "../ui/page.tsx";
import { Badge, Pending } from "../ui/states.tsx";

const marks = {
  ok: { Icon: CircleCheck, class: "text-good", word: "Works" },
  warn: { Icon: TriangleAlert, class: "text-warn", word: "Warning" },
  fail: { Icon: CircleAlert, class: "text-bad", word: "Failed" },
  off: { Icon: CircleMinus, class: "text-muted", word: "Not set up" },
} as const;

export default function ServerPage() {
  const loaded = useLoad<Server>("/api/server");
  const again = useAction(loaded.reload);
  const { data } = loaded;
  return (
    <>
      <PageHead
        title="Server"
        actions={
          <Button icon={RefreshCw} isBusy={again.isBusy} disabled={data === null} onClick={() => void again.run()}>
            Check again
          </Button>
        }
      >
        {data === null ? (
          "Checking providers, storage, backups and addresses. This takes a few seconds."
        ) : (
          <>
            Checked <Time at={data.checked_at} />. Checks run at most once a minute.
          </>
        )}
      </PageHead>
      {data === null ? (
        <Pending of={loaded} lines={8} />
      ) : (
        <div class="grid items-start gap-6 lg:grid-cols-[3fr_2fr]">
          <Checks server={data} />
          <div class="space-y-6">
            <ModelTest models={data.language_model.models} usual={data.language_model.default_model} />
            <Facts server={data} />
          </div>
        </div>
      )}
    </>
  );
}

function Checks({ server: { findings, recent_failures, defects } }: { server: Server }) {
  const wrong = findings.filter(({ status }) => status !== "ok").length + recent_failures.length;
  const failures = recent_failures.map(({ model, detail, advice, replies }) => ({
    ...{ name: model, status: "fail" as const, advice, is_off: false },
    detail: `${detail} ${countOf(replies, "reply", "replies")} in a row failed.`,
  }));
  return (
    <Section
      title="Health"
      hint={
        wrong === 0
          ? "Everything that is set up works."
          : `${wrong === 1 ? "One thing needs" : `${wrong} things need`} your attention.`
      }
    >
      <ul>
        {[...failures, ...findings].map(({ name, status, detail, advice, is_off }) => {
          const { Icon, word, class: color } = marks[is_off ? "off" : status];
          return (
            <li key={`${name} ${detail}`} class="flex gap-3 border-line py-3 not-last:border-b">
              <Icon size={18} class={`mt-0.5 shrink-0 ${color}`} role="img" aria-label={word} />
              <div class="min-w-0">
                <p class="font-medium first-letter:uppercase">{name}</p>
                <p class="text-13 text-muted wrap-anywhere">{detail}</p>
                {advice !== null && <p class="mt-1 text-13 wrap-anywhere">{advice}</p>}
              </div>
            </li>
          );
        })}
      </ul>
      {defects > 0 && (
        <p class="mt-3 text-13 text-warn">
          {formatNumber(defects)} unexpected {defects === 1 ? "error" : "errors"} since the start: the log has the
          reason.
        </p>
      )}
    </Section>
  );
}

function Facts({ server }: { server: Server }) {
  const { storage, backups, certificate, settings, language_model: llm } = server;
  return (
    <Section title="Runs with">
      <dl class="space-y-3 text-14">
        <Fact title="Version">
          {server.version}{" "}
          {server.commit !== null && <code class="font-mono text-13">{server.commit.slice(0, 8)}</code>}
          {server.is_draining && <Badge tone="warn">Stopping</Badge>}
        </Fact>
        <Fact title="Started">
          <Time at={server.started_at} />
        </Fact>
        <Fact title="Replies under way">{formatNumber(server.open_replies)}</Fact>
        <Fact title="Listens at">{server.listening.join(", ")}</Fact>
        <Fact title="Public URL">{server.public_url ?? "Not set"}</Fact>
        <Fact title="Storage">
          {storage.engine === "embedded" ? "Embedded" : "PostgreSQL"}, {storage.database}
        </Fact>
        {server.redis !== null && <Fact title="Redis">{server.redis}</Fact>}
        <Fact title="Language models">
          {llm.is_demo
            ? "Built-in demo"
            : llm.providers.map(({ name, base_url }) => `${name} (${base_url})`).join(", ")}
        </Fact>
        <Fact title="Voice">{server.voice?.base_url ?? "Not set up"}</Fact>
        <Fact title="Backups">
          {backups.cron === null ? (
            "Not scheduled"
          ) : (
            <>
              {backups.cron}, {formatNumber(backups.keep)} kept. Last:{" "}
              <Time at={backups.last_success_at} never="none since the start" />
            </>
          )}
        </Fact>
        <Fact title="Certificate">
          {certificate === null ? (
            "None of its own"
          ) : (
            <>
              Valid until <Time at={certificate.expires_at} />
            </>
          )}
        </Fact>
        <Fact title="Settings given">
          {settings.length === 0 ? "None: defaults" : settings.map(({ name }) => name).join(", ")}
        </Fact>
      </dl>
    </Section>
  );
}

function Fact({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div>
      <dt class="text-13 text-muted">{title}</dt>
      <dd class="wrap-anywhere">{children}</dd>
    </div>
  );
}
