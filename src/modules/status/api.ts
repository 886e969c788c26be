/** The status route, for the API document. */
import type { ApiOperation } from "../../http/api-description.ts";
import { StatusObject } from "./responses.ts";

export const statusApi: ApiOperation[] = [
  {
    id: "getStatus",
    method: "GET",
    path: "/api/status",
    tag: "Service",
    summary: "What an operator should look at now",
    description: "Known from the replies themselves: nothing is asked of a provider for it.",
    access: "operator",
    answers: { 200: { description: "What is amiss.", content: { "application/json": StatusObject } } },
  },
];
