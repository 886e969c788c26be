/** Responses of the operators' page about the server: their schemas, created on first use. */
import { type Static, Type as t } from "@sinclair/typebox";
import { failureKinds } from "../../domain/reply-failure.ts";
import { instant, namedObject } from "../../http/schemas/named-object.ts";
import { Nullable, OneOf } from "../../http/schemas/schema.ts";

const text = (example: string, description?: string) =>
  t.String({ examples: [example], ...(description === undefined ? {} : { description }) });
const count = (description: string) => t.Integer({ minimum: 0, description });
const lastInstant = (description: string) => Nullable(instant(description));

const ServerFinding = namedObject("ServerFinding", () => ({
  name: text("database", "What was checked."),
  status: OneOf(["ok", "warn", "fail"] as const),
  detail: text("The database is sound.", "What was found."),
  advice: Nullable(text("Set COMPANIOND_PUBLIC_URL.", "What to do; null: nothing.")),
  is_off: t.Boolean({ description: "Not set up, so that there was nothing to check: `status` is `ok`." }),
}));

const ServerFailure = namedObject("ServerFailure", () => ({
  model: text("gpt-6-luna"),
  kind: OneOf(failureKinds),
  detail: text("gpt-6-luna does not reply at OpenAI: the provider answered 401."),
  advice: text("Check OPENAI_API_KEY."),
  replies: count("How many replies failed one after the other."),
  last_at: instant("When the last one failed."),
}));

export const ServerObject = namedObject("Server", () => ({
  checked_at: instant("When the checks ended: they run at most once a minute."),
  findings: t.Array(ServerFinding, { description: "What was checked, what is wrong first." }),
  recent_failures: t.Array(ServerFailure, { description: "Models whose last replies failed, the latest last." }),
  defects: count("Unexpected errors since the start that ended no more than a request."),
  version: text("1.0.0"),
  commit: Nullable(text("0123abc")),
  started_at: lastInstant("When the server started."),
  uptime_seconds: count("How long it runs."),
  is_draining: t.Boolean({ description: "Whether it is stopping." }),
  open_replies: count("Replies under way."),
  data_dir: text("/var/lib/companiond"),
  storage: t.Object({
    engine: OneOf(["embedded", "postgresql"] as const),
    database: text("companiond at db.example"),
  }),
  redis: Nullable(text("redis.example:6379")),
  listening: t.Array(t.String(), { examples: [["http://127.0.0.1:3000"]] }),
  metrics_url: Nullable(text("http://127.0.0.1:9090/metrics")),
  public_url: Nullable(text("https://chat.example.com")),
  language_model: t.Object({
    is_demo: t.Boolean(),
    providers: t.Array(
      t.Object({
        name: text("default"),
        base_url: text("https://api.openai.com/v1"),
        has_key: t.Boolean(),
      }),
    ),
    default_model: text("gpt-6-luna"),
    models: t.Array(t.String(), { examples: [["gpt-6-luna"]] }),
    embedding_model: Nullable(text("text-embedding-3-small")),
  }),
  voice: Nullable(t.Object({ base_url: text("https://api.elevenlabs.io"), has_key: t.Boolean() })),
  backups: t.Object({
    cron: Nullable(text("0 3 * * *")),
    dir: text("/var/lib/companiond/backups"),
    keep: count("How many are kept."),
    succeeded: count("Since the start."),
    failed: count("Since the start."),
    last_success_at: lastInstant("The last one since the start."),
  }),
  certificate: Nullable(t.Object({ expires_at: lastInstant("Its end.") })),
  settings: t.Array(t.Object({ name: text("COMPANIOND_PUBLIC_URL"), source: text("environment") }), {
    description: "Names of the settings that are given, and where; never their values.",
  }),
}));
export type Server = Static<typeof ServerObject>;

export const TestedModelObject = namedObject("TestedModel", () => ({
  ok: t.Boolean({ description: "Whether the model answered." }),
  text: Nullable(text("Hello", "What it answered; null if it did not.")),
  first_text_ms: Nullable(count("Until its first word.")),
  cost_micros: Nullable(
    t.Integer({ description: "In millionths of a US dollar. Null: the model has no price.", examples: [12] }),
  ),
  kind: Nullable(OneOf(failureKinds, { description: "Why it did not answer." })),
  detail: Nullable(text("The provider refused the server's key.", "The same as a sentence, with what to change.")),
}));
export type TestedModel = Static<typeof TestedModelObject>;
