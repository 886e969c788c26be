/** Tables of what companions were: versions, their texts, drafts, and what files have set. Triggers count their bytes. */
import type { JsonObject, JsonValue } from "../../../domain/companion.ts";
import type { ChangeVia, VersionActor } from "../../../domain/version.ts";
import type { companionTables } from "./companions.ts";
import type { Dialect } from "./dialect.ts";

export function versionTables(dialect: Dialect, { companions }: ReturnType<typeof companionTables>) {
  const { table, text, whole, small, boolean, json, primaryKey, index } = dialect;

  // No foreign key: there may be more of a companion than one commit deletes.
  const companionVersions = table(
    "companion_versions",
    () => ({
      companionId: text("companion_id").notNull(),
      number: small("number").notNull(),
      accountId: text("account_id").notNull(),
      createdAt: whole("created_at").notNull(),
      actorType: text<VersionActor["type"]>("actor_type"),
      actorId: text("actor_id"),
      actorName: text("actor_name"),
      via: text<ChangeVia>("via"),
      note: text("note"),
      changed: json<string[]>("changed").notNull(),
      /** What was set, without what is in the texts. */
      settings: json<JsonObject>("settings").notNull(),
      /** Hashes of texts; null for what is empty. */
      systemPrompt: text("system_prompt"),
      greeting: text("greeting"),
      metadata: text("metadata"),
      tools: text("tools"),
      sources: text("sources"),
      bytes: small("bytes").notNull(),
    }),
    (row) => [
      primaryKey({ columns: [row.companionId, row.number] }),
      index("companion_versions_account").on(row.accountId, row.createdAt),
      // Whether a text is still used.
      index("companion_versions_system_prompt").on(row.systemPrompt),
      index("companion_versions_greeting").on(row.greeting),
      index("companion_versions_metadata").on(row.metadata),
      index("companion_versions_tools").on(row.tools),
      index("companion_versions_sources").on(row.sources),
    ],
  );

  /** Each once in an account, by its SHA-256. */
  const companionTexts = table(
    "companion_texts",
    () => ({
      accountId: text("account_id").notNull(),
      hash: text("hash").notNull(),
      text: text("text").notNull(),
      bytes: small("bytes").notNull(),
    }),
    (row) => [primaryKey({ columns: [row.accountId, row.hash] })],
  );

  const companionDrafts = table("companion_drafts", () => ({
    companionId: text("companion_id")
      .primaryKey()
      .references(() => companions.id, { onDelete: "cascade" }),
    accountId: text("account_id").notNull(),
    patch: json<JsonObject>("patch").notNull(),
    base: json<JsonObject>("base").notNull(),
    beganVersion: small("began_version").notNull(),
    bytes: small("bytes").notNull(),
    createdAt: whole("created_at").notNull(),
    updatedAt: whole("updated_at").notNull(),
  }));

  const appliedCompanions = table(
    "applied_companions",
    () => ({
      companionId: text("companion_id")
        .primaryKey()
        .references(() => companions.id, { onDelete: "cascade" }),
      accountId: text("account_id").notNull(),
      setName: text("set_name").notNull(),
      fields: json<Record<string, JsonValue>>("fields").notNull(),
      tools: json<Record<string, JsonValue>>("tools").notNull(),
      sources: json<Record<string, JsonValue>>("sources").notNull(),
      isPruned: boolean("is_pruned").notNull(),
      version: small("version").notNull(),
      bytes: small("bytes").notNull(),
      appliedAt: whole("applied_at").notNull(),
    }),
    (row) => [index("applied_companions_set").on(row.accountId, row.setName)],
  );

  return { companionVersions, companionTexts, companionDrafts, appliedCompanions };
}
