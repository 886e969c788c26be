/** The dashboard's addresses, for the API document. */
import { Type as t } from "@sinclair/typebox";
import type { ApiOperation } from "../../http/api-description.ts";

const shared = {
  method: "GET",
  tag: "Service",
  access: "public",
  answers: { 200: { description: "The page.", content: { "text/html": null } } },
} as const;

export const dashboardApi: ApiOperation[] = [
  { ...shared, id: "getDashboard", path: "/app", summary: "The dashboard" },
  {
    ...shared,
    id: "getDashboardPage",
    path: "/app/{page}",
    summary: "A page of the dashboard",
    description: "Any address below `/app`, however deep: the dashboard finds its own way from there.",
    params: { page: t.String({ description: "The page.", examples: ["api-keys"] }) },
  },
];
