/** Every page of the dashboard: its address, its file, and who may see it. */
import {
  budgetsPath,
  inboxPath,
  type PageComponent,
  type Params,
  secondFactorPath,
  signInPath,
  startPath,
  visitorKeysPath,
} from "./lib/router.ts";

export interface Route {
  /** With `?` at its end the last part may be missing, and the page stays when it comes and goes. */
  pattern: string;
  load(): Promise<{ default: PageComponent }>;
  /** Not set: for those who are signed in. `public` pages are for those who are not. */
  access?: "public" | "operator";
}

export const routes: readonly Route[] = [
  { pattern: signInPath, load: () => import("./pages/sign-in.tsx"), access: "public" },
  { pattern: "/app/setup", load: () => import("./pages/set-up.tsx"), access: "public" },
  { pattern: "/app/reset", load: () => import("./pages/reset.tsx"), access: "public" },
  { pattern: "/app/invitation", load: () => import("./pages/reset.tsx"), access: "public" },
  { pattern: startPath, load: () => import("./pages/start.tsx") },
  { pattern: inboxPath, load: () => import("./pages/inbox.tsx") },
  { pattern: "/app/members", load: () => import("./pages/members.tsx") },
  { pattern: "/app/companions", load: () => import("./pages/companions.tsx") },
  { pattern: "/app/companions/new", load: () => import("./pages/companion-new.tsx") },
  { pattern: "/app/companions/:id", load: () => import("./pages/companion.tsx") },
  { pattern: "/app/companions/:id/conversations", load: () => import("./pages/companion-conversations.tsx") },
  { pattern: "/app/companions/:id/settings", load: () => import("./pages/companion-settings.tsx") },
  { pattern: "/app/companions/:id/knowledge", load: () => import("./pages/knowledge.tsx") },
  { pattern: "/app/companions/:id/tools", load: () => import("./pages/tools.tsx") },
  { pattern: "/app/companions/:id/install", load: () => import("./pages/install.tsx") },
  { pattern: "/app/companions/:id/appearance", load: () => import("./pages/appearance.tsx") },
  { pattern: "/app/companions/:id/playground", load: () => import("./pages/playground.tsx") },
  { pattern: "/app/companions/:id/history", load: () => import("./pages/history.tsx") },
  { pattern: "/app/conversations/:id?", load: () => import("./pages/conversations.tsx") },
  { pattern: "/app/api-keys", load: () => import("./pages/api-keys.tsx") },
  { pattern: visitorKeysPath, load: () => import("./pages/visitor-keys.tsx") },
  { pattern: "/app/webhooks", load: () => import("./pages/webhooks.tsx") },
  { pattern: "/app/unanswered", load: () => import("./pages/unanswered.tsx") },
  { pattern: "/app/leads", load: () => import("./pages/leads.tsx") },
  { pattern: "/app/insights", load: () => import("./pages/insights.tsx") },
  { pattern: "/app/server", load: () => import("./pages/server.tsx"), access: "operator" },
  { pattern: "/app/usage", load: () => import("./pages/usage.tsx") },
  { pattern: budgetsPath, load: () => import("./pages/budgets.tsx") },
  { pattern: "/app/audit", load: () => import("./pages/audit.tsx") },
  { pattern: "/app/account", load: () => import("./pages/account.tsx") },
  { pattern: secondFactorPath, load: () => import("./pages/second-factor.tsx") },
  { pattern: "/app/accounts", load: () => import("./pages/accounts.tsx"), access: "operator" },
];

/** The route of a path and its named path parameters; null if there is no such page. */
export function matchRoute(path: string): { route: Route; params: Params } | null {
  const parts = path.split("/");
  for (const route of routes) {
    const isOptional = route.pattern.endsWith("?");
    const names = route.pattern
      .replace("?", "")
      .split("/")
      .slice(0, isOptional ? parts.length : undefined);
    if (names.length !== parts.length || (isOptional && parts.length < route.pattern.split("/").length - 1)) continue;
    const params: Params = {};
    const isMatch = names.every((name, index) => {
      const part = parts[index] ?? "";
      if (!name.startsWith(":")) return name === part;
      params[name.slice(1)] = decode(part);
      return part !== "";
    });
    if (isMatch) return { route, params };
  }
  return null;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
