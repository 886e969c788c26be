/** The accounts' routes, for the API document. */

import { type ApiOperation, idParam } from "../../http/api-description.ts";
import { pageQuery } from "../../http/paging.ts";
import { schemasOf } from "../../http/query.ts";
import { AccountObject } from "../../schemas/account-response.ts";
import { Text } from "../../schemas/schema.ts";
import { accountPatchBody, newAccountBody, newGrantBody } from "./model.ts";
import { AccountList, ResetLink, VoiceAgentGrantList, VoiceAgentGrantObject } from "./responses.ts";

const shared = { tag: "Accounts", access: "operator" } as const;
const params = { id: idParam("account") };
const account = { "application/json": AccountObject };

export const accountsApi: ApiOperation[] = [
  {
    ...shared,
    id: "listAccounts",
    method: "GET",
    path: "/api/accounts",
    summary: "List accounts",
    query: {
      q: Text({ description: "Part of the address, or an exact id.", examples: ["shop.example"] }),
      ...schemasOf(pageQuery),
    },
    answers: { 200: { description: "A page of accounts.", content: { "application/json": AccountList } } },
  },
  {
    ...shared,
    id: "createAccount",
    method: "POST",
    path: "/api/accounts",
    summary: "Add an account",
    description: "Its owner chooses a password by a link: see the reset-link call.",
    body: { schema: newAccountBody.schema },
    isIdempotent: true,
    answers: { 201: { description: "The account.", content: account } },
  },
  {
    ...shared,
    id: "getAccount",
    method: "GET",
    path: "/api/accounts/{id}",
    summary: "Read an account",
    params,
    answers: { 200: { description: "The account.", content: account } },
  },
  {
    ...shared,
    id: "updateAccount",
    method: "PATCH",
    path: "/api/accounts/{id}",
    summary: "Set plan and role, suspend or resume",
    description: "The own account cannot be suspended or lose its role, so that an operator remains.",
    params,
    body: { schema: accountPatchBody.schema },
    answers: { 200: { description: "The account as it is now.", content: account } },
  },
  {
    ...shared,
    id: "deleteAccount",
    method: "DELETE",
    path: "/api/accounts/{id}",
    summary: "Delete an account with all it owns",
    description: "Its usage is kept. The own account cannot be deleted.",
    params,
    answers: { 204: { description: "Deleted." } },
  },
  {
    ...shared,
    id: "createResetLink",
    method: "POST",
    path: "/api/accounts/{id}/reset-link",
    summary: "Make a link with which the account's owner chooses a password",
    description:
      "It works once, within 30 minutes; earlier links of the account end. 409 where the server does not know its own " +
      "address: it needs `COMPANIOND_PUBLIC_URL`.",
    params,
    answers: { 201: { description: "The link.", content: { "application/json": ResetLink } } },
    errors: ["conflict"],
  },
  {
    ...shared,
    id: "listVoiceAgentGrants",
    method: "GET",
    path: "/api/accounts/{id}/voice-agents",
    summary: "List the voice agents that an account may use",
    description: "All in one page. An operator's own account may use every agent, and needs none of these.",
    params,
    answers: { 200: { description: "The grants.", content: { "application/json": VoiceAgentGrantList } } },
  },
  {
    ...shared,
    id: "grantVoiceAgent",
    method: "POST",
    path: "/api/accounts/{id}/voice-agents",
    summary: "Let an account use an agent of the voice provider",
    description:
      "Its companions may then name the agent as `voice_agent_id`. Several accounts may have the same one. An agent that " +
      "the server keeps for a companion is refused.",
    params,
    body: { schema: newGrantBody.schema },
    isIdempotent: true,
    answers: { 201: { description: "The grant.", content: { "application/json": VoiceAgentGrantObject } } },
  },
  {
    ...shared,
    id: "revokeVoiceAgent",
    method: "DELETE",
    path: "/api/accounts/{id}/voice-agents/{agent_id}",
    summary: "Take a voice agent from an account",
    description:
      "Companions of the account that name it have no voice from the next request on; they keep the field, and have it " +
      "again once the agent is granted again. A session that is under way goes on to its end.",
    params: {
      ...params,
      agent_id: Text({ description: "The agent's id at the voice provider.", examples: ["agent_01jxyz"] }),
    },
    answers: { 204: { description: "Taken." } },
  },
];
