/** `GET /api/status`: what an operator should look at now. */
import { jsonResponse } from "../../http/api-description.ts";
import { type Route, route } from "../../http/route.ts";
import { toWireSilentModel } from "./model.ts";
import { StatusObject } from "./responses.ts";

export const statusRoutes: readonly Route[] = [
  route({
    id: "getStatus",
    method: "GET",
    path: "/api/status",
    tag: "Service",
    summary: "What an operator should look at now",
    access: "operator",
    document: () => ({
      description: "Known from the replies themselves: no provider is called for it.",
      responses: { 200: jsonResponse("What is wrong.", StatusObject) },
    }),
    handle: ({ services }) => ({ silent_models: services.providerHealth.listSilent().map(toWireSilentModel) }),
  }),
];
