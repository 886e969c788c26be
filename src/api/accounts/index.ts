/** `/api/accounts`: operators add, change, suspend and delete accounts. */
import { jsonResponse } from "../../http/api-description.ts";
import { requireBaseUrl } from "../../http/base-url.ts";
import { jsonBody } from "../../http/json-body.ts";
import { cutPage, listOf, pageQuery, toWireList } from "../../http/paging.ts";
import { textQuery } from "../../http/query.ts";
import { type Route, route } from "../../http/route.ts";
import { AccountObject, toWireAccount } from "../../http/schemas/account.ts";
import { Text } from "../../http/schemas/schema.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { accountPatchBody, newAccountBody } from "./model.ts";
import { ResetLink } from "./responses.ts";
import { deleteAccount, getAccount, makeResetLink, prepareAccount, updateAccount } from "./service.ts";
import { voiceAgentRoutes } from "./voice-agent-routes.ts";

export const accountRoutes: readonly Route[] = [
  route({
    id: "listAccounts",
    method: "GET",
    path: "/api/accounts",
    tag: "Accounts",
    summary: "List accounts",
    access: "operator",
    query: {
      q: textQuery("q", () =>
        Text({ description: "Part of the address, or an exact id.", examples: ["shop.example"] }),
      ),
      page: pageQuery,
    },
    document: () => ({
      responses: { 200: jsonResponse("A page of accounts.", listOf(AccountObject, "AccountList")) },
    }),
    async handle({ services, query }) {
      const q = query.q?.toLowerCase() ?? "";
      const found = (await services.store.accounts.list()).filter(({ email, id }) => email.includes(q) || id === q);
      return toWireList(cutPage(found.toReversed(), query.page), toWireAccount);
    },
  }),
  route({
    id: "createAccount",
    method: "POST",
    path: "/api/accounts",
    tag: "Accounts",
    summary: "Add an account",
    access: "operator",
    body: jsonBody(newAccountBody),
    isIdempotent: true,
    document: () => ({
      description: "Its owner chooses a password with a link: see the reset-link call.",
      responses: { 201: jsonResponse("The account.", AccountObject) },
    }),
    handle: ({ services, createOnce }) =>
      createOnce((body, { nowMs }) => {
        const { made, write } = prepareAccount(services, body, nowMs);
        return { response: toWireAccount(made), write };
      }),
  }),
  route({
    id: "getAccount",
    method: "GET",
    path: "/api/accounts/{id}",
    tag: "Accounts",
    summary: "Read an account",
    access: "operator",
    document: () => ({ responses: { 200: jsonResponse("The account.", AccountObject) } }),
    handle: async ({ services, params }) => toWireAccount(await getAccount(services, params.id)),
  }),
  route({
    id: "updateAccount",
    method: "PATCH",
    path: "/api/accounts/{id}",
    tag: "Accounts",
    summary: "Set plan and role, suspend or resume",
    access: "operator",
    body: jsonBody(accountPatchBody, { answer: AccountObject }),
    document: () => ({
      description: "You cannot suspend your own account or change its role, so that an operator remains.",
      responses: { 200: jsonResponse("The account as it is now.", AccountObject) },
    }),
    async handle({ services, principal, params, readBody, writeContext }) {
      const account = await getAccount(services, params.id);
      const patch = await readBody();
      return toWireAccount(await updateAccount(services, principal, account, patch, writeContext()));
    },
  }),
  route({
    id: "deleteAccount",
    method: "DELETE",
    path: "/api/accounts/{id}",
    tag: "Accounts",
    summary: "Delete an account with all it owns",
    access: "operator",
    document: () => ({
      description: "Its usage is kept. You cannot delete your own account.",
      responses: { 204: { description: "Deleted." } },
    }),
    handle: ({ services, principal, params, writeContext }) =>
      deleteAccount(services, principal, params.id, writeContext()),
  }),
  route({
    id: "createResetLink",
    method: "POST",
    path: "/api/accounts/{id}/reset-link",
    tag: "Accounts",
    summary: "Create a link with which the account's owner chooses a password",
    access: "operator",
    status: 201,
    document: () => ({
      description:
        "It works once, within 30 minutes; earlier links of the account end. The owner also gets it by mail, where the server " +
        "sends any. 409 if the server does not know its own address: it needs `COMPANIOND_PUBLIC_URL`.",
      responses: { 201: jsonResponse("The link.", ResetLink) },
      errors: ["conflict"],
    }),
    async handle({ services, request, params, writeContext }) {
      const baseUrl = requireBaseUrl(services.settings, request);
      const { path, expiresAt } = await makeResetLink(services, params.id, writeContext());
      return { url: baseUrl + path, expires_at: toRfc3339(expiresAt) };
    },
  }),
  ...voiceAgentRoutes,
];
