/** `/app` and every address below it: the dashboard, which finds its own way from there. */
import type { Elysia } from "elysia";
import type { HeaderBag } from "../../http/problem.ts";
import { renderShell } from "./shell.ts";

export function dashboardModule() {
  const { html, policy } = renderShell();

  function answer({ set }: { set: { headers: HeaderBag } }): string {
    Object.assign(set.headers, {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "permissions-policy": "camera=(), geolocation=(), microphone=()",
      // It names the current files, which are kept for ever themselves.
      "cache-control": "no-cache",
    });
    return html;
  }

  return (app: Elysia) => app.get("/app", answer).get("/app/*", answer);
}
