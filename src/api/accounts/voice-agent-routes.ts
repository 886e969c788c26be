/** `/api/accounts/{id}/voice-agents`: which agents of the voice provider an account may use. */
import { jsonResponse } from "../../http/api-description.ts";
import { jsonBody } from "../../http/json-body.ts";
import { listOf } from "../../http/paging.ts";
import { type Route, route } from "../../http/route.ts";
import { Text } from "../../http/schemas/schema.ts";
import { newGrantBody } from "./model.ts";
import { toWireGrant, VoiceAgentGrantObject } from "./responses.ts";
import { getAccount, listGrants, prepareGrant, revokeGrant } from "./service.ts";

export const voiceAgentRoutes: readonly Route[] = [
  route({
    id: "listVoiceAgentGrants",
    method: "GET",
    path: "/api/accounts/{id}/voice-agents",
    tag: "Accounts",
    summary: "List the voice agents that an account may use",
    access: "operator",
    document: () => ({
      description: "All in one page. An operator's own account may use every agent, and needs none of these.",
      responses: { 200: jsonResponse("The grants.", listOf(VoiceAgentGrantObject, "VoiceAgentGrantList")) },
    }),
    handle: async ({ services, params }) => ({
      data: (await listGrants(services, params.id)).map(toWireGrant),
      next_cursor: null,
    }),
  }),
  route({
    id: "grantVoiceAgent",
    method: "POST",
    path: "/api/accounts/{id}/voice-agents",
    tag: "Accounts",
    summary: "Let an account use an agent of the voice provider",
    access: "operator",
    body: jsonBody(newGrantBody),
    isIdempotent: true,
    document: () => ({
      description:
        "Its companions may then name the agent as `voice_agent_id`. Several accounts may use the same agent. An agent " +
        "that the server keeps for a companion is refused.",
      responses: { 201: jsonResponse("The grant.", VoiceAgentGrantObject) },
    }),
    async handle({ services, params, createOnce }) {
      const { id } = await getAccount(services, params.id);
      return createOnce(async ({ agent_id: agentId }, { nowMs }) => {
        const { made, write } = await prepareGrant(services, id, agentId, nowMs);
        return { response: toWireGrant(made), write };
      });
    },
  }),
  route({
    id: "revokeVoiceAgent",
    method: "DELETE",
    path: "/api/accounts/{id}/voice-agents/{agent_id}",
    tag: "Accounts",
    summary: "Take a voice agent from an account",
    access: "operator",
    document: () => ({
      description:
        "Companions of the account that name it have no voice from the next request on. They keep the field, and get " +
        "their voice back once the agent is granted again. A running session goes on to its end.",
      params: {
        agent_id: Text({ description: "The agent's id at the voice provider.", examples: ["agent_01jxyz"] }),
      },
      responses: { 204: { description: "Taken." } },
    }),
    handle: ({ services, params, writeContext }) => revokeGrant(services, params.id, params.agentId, writeContext()),
  }),
];
