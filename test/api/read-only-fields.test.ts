/** What clients may send back as they read it, although no request can set it: one list for each resource. */
import { expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import { accountPatchBody } from "../../src/api/accounts/model.ts";
import { budgetPatchBody, newBudgetBody } from "../../src/api/budgets/model.ts";
import { BudgetObject } from "../../src/api/budgets/responses.ts";
import { companionPatchBody, newCompanionBody, newEmbedTokenBody } from "../../src/api/companions/model.ts";
import { CompanionObject, EmbedTokenObject } from "../../src/api/companions/responses.ts";
import { newKeyBody } from "../../src/api/keys/model.ts";
import { NewKeyObject } from "../../src/api/keys/responses.ts";
import { newSourceBodies } from "../../src/api/knowledge/model.ts";
import { SourceObject } from "../../src/api/knowledge/responses.ts";
import { newVisitorKeyBody } from "../../src/api/visitor-keys/model.ts";
import { VisitorKeyObject } from "../../src/api/visitor-keys/responses.ts";
import { AccountObject } from "../../src/http/schemas/account.ts";
import { omitReadOnly } from "../../src/http/schemas/named-object.ts";

const budget = "created_at id reached_at reserved_micros resets_at spent_micros updated_at";
const companion = "avatar created_at created_by_key_id embed_token id seen_on updated_at";
const source = "bytes chunks content_hash created_at error id indexed_at progress refresh_at status updated_at";

test.each<[what: string, model: { readonly schema: TObject }, answer: TObject, fields: string]>([
  ["a change of an account", accountPatchBody, AccountObject, "created_at email has_totp id suspended_at"],
  ["a budget", newBudgetBody, BudgetObject, budget],
  ["a change of a budget", budgetPatchBody, BudgetObject, budget],
  ["a companion", newCompanionBody, CompanionObject, companion],
  ["a change of a companion", companionPatchBody, CompanionObject, companion],
  ["an embed token", newEmbedTokenBody, EmbedTokenObject, "created_at id last_used_at token"],
  [
    "an API key",
    newKeyBody,
    NewKeyObject,
    "created_at created_by_key_id id key last_four last_used_at replaced_at replaced_by_key_id requests start",
  ],
  ["a visitor key", newVisitorKeyBody, VisitorKeyObject, "created_at id"],
  ["a text", newSourceBodies.text, SourceObject, `${source} refresh_hours`],
  ["a page", newSourceBodies.url, SourceObject, `${source} title`],
  ["a sitemap", newSourceBodies.sitemap, SourceObject, `${source} title`],
])("%s passes over what only its response has, and nothing else", (_, model, answer, fields) => {
  const names = [...Object.keys(answer.properties), ...Object.keys(model.schema.properties), "unknown", "toString"];
  const sent = Object.fromEntries(names.map((name) => [name, name]));
  const left = Object.keys(omitReadOnly(sent, model, answer) as object);
  const omitted = Object.keys(sent).filter((name) => !left.includes(name));
  expect(omitted.toSorted()).toEqual(fields.split(" ").toSorted());
});

test.each([[null], [undefined], ["text"], [[{ id: 1 }]]])("what is no object stays as it is: %p", (sent) => {
  expect(omitReadOnly(sent, newVisitorKeyBody, VisitorKeyObject)).toBe(sent);
});
