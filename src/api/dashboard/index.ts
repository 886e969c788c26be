/** `/app` and every address below it: the dashboard, which does its own routing. */
import { readFileSync } from "node:fs";
import { Type as t } from "@sinclair/typebox";
import type { Services } from "../../core/dependencies.ts";
import { isSetUp } from "../../http/first-steps.ts";
import type { ResponseHead } from "../../http/json-response.ts";
import { type Route, route } from "../../http/route.ts";
import { later } from "../../lib/later.ts";
import { embeddedAssets } from "../../web/generated/assets.ts";

interface Shell {
  html: string;
  policy: string;
}

/**
 * The dashboard's only HTML document, and its content security policy. The same for every address and user: all
 * content comes from the API. `isNew`: no one can sign in yet.
 */
function renderShell(isNew: boolean): Shell {
  const [script, style] = ["dashboard.js", "dashboard.css"].map((name) =>
    embeddedAssets.find((embedded) => embedded.name === name),
  );
  if (script === undefined || style === undefined) throw new Error("The web build has no dashboard.");
  const preloads = listImports(readFileSync(script.plain, "utf8"))
    .map((path) => `<link rel="modulepreload" href="${path}">\n`)
    .join("");
  const html = `<!doctype html>
<html lang="en"${isNew ? " data-is-new" : ""}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>companiond</title>
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath d='M12 2a10 10 0 0 0-8.5 15.2L2.4 21.6l4.6-1.1A10 10 0 1 0 12 2z' fill='%235b51ee'/%3E%3Cg fill='none' stroke-linecap='round'%3E%3Cpath d='M8.6 9v1.6m6.8-1.6v1.6' stroke='%23fff' stroke-width='2.6'/%3E%3Cpath d='M8.2 14.4q3.8 3.2 7.6 0' stroke='%23ffc65c' stroke-width='2.2'/%3E%3C/g%3E%3C/svg%3E">
<link rel="apple-touch-icon" href="/apple-touch-icon.png">
<link rel="stylesheet" href="/assets/${style.fileName}">
${preloads}<script type="module" src="/assets/${script.fileName}"></script>
</head>
<body>
<div id="app"></div>
<noscript>The dashboard needs JavaScript.</noscript>
</body>
</html>
`;
  return { html, policy };
}

/** The imports that the browser would otherwise discover only after reading the script. */
function listImports(code: string): string[] {
  return [...code.matchAll(/(?:from|import)"(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Owners host their companions' avatars anywhere.
  "img-src 'self' data: https: http:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

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
