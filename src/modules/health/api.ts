/** The health routes, for the API document. */
import { Type as t } from "@sinclair/typebox";
import type { ApiOperation } from "../../http/api-description.ts";

const Alive = t.Object({ status: t.Literal("ok"), version: t.String({ examples: ["1.0.0"] }) }, { $id: "Alive" });
const Ready = t.Object({ status: t.Literal("ready") }, { $id: "Ready" });

export const healthApi: ApiOperation[] = [
  {
    id: "getHealth",
    method: "GET",
    path: "/healthz",
    tag: "Service",
    summary: "Whether the process is alive",
    access: "public",
    answers: { 200: { description: "Alive.", content: { "application/json": Alive } } },
  },
  {
    id: "getReadiness",
    method: "GET",
    path: "/readyz",
    tag: "Service",
    summary: "Whether requests should be sent here",
    description: "503 while the database is out of reach, or the server is shutting down.",
    access: "public",
    answers: { 200: { description: "Ready.", content: { "application/json": Ready } } },
  },
];
