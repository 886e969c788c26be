/** `/app` and every address below it: the dashboard, which does its own routing. */
import { Type as t } from "@sinclair/typebox";
import type { Services } from "../../core/dependencies.ts";
import { isSetUp } from "../../http/first-steps.ts";
import type { ResponseHead } from "../../http/json-response.ts";
import { type Route, route } from "../../http/route.ts";
import { later } from "../../lib/later.ts";
import { renderShell } from "./shell.ts";

const newShell = later(() => renderShell(true));
const settledShell = later(() => renderShell(false));
const shared = { method: "GET", tag: "Service", access: "public", handle: respond } as const;
const responses = { 200: { description: "The page.", content: { "text/html": null } } };

async function respond({ services, set }: { services: Services; set: ResponseHead }): Promise<string> {
  const shell = (await isSetUp(services)) ? settledShell : newShell;
  Object.assign(set.headers, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": shell.policy,
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    // The page names the current files, which are themselves cached for ever.
    "cache-control": "no-cache",
  });
  return shell.html;
}

export const dashboardRoutes: readonly Route[] = [
  route({
    ...shared,
    id: "getDashboard",
    path: "/app",
    summary: "The dashboard",
    document: () => ({ responses }),
  }),
  route({
    ...shared,
    id: "getDashboardPage",
    path: "/app/{page*}",
    summary: "A page of the dashboard",
    document: () => ({
      description: "Any address below `/app`, however deep: the dashboard does its own routing.",
      params: { page: t.String({ description: "The page.", examples: ["api-keys"] }) },
      responses,
    }),
  }),
];
