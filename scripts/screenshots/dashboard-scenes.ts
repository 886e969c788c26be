/** The pages of the dashboard, and what opens on them. */
import type { Page } from "playwright-core";
import type { Scene } from "./scene.ts";
import type { ScreenshotWorld } from "./world.ts";

/** Pages whose heading and content are there, with nothing that still loads. */
async function settled(page: Page): Promise<void> {
  await page.getByRole("heading").first().waitFor();
  await page.locator("main .skeleton, main [aria-busy=true]").first().waitFor({ state: "hidden" });
}

export function dashboardScenes({ server, companion, conversation }: ScreenshotWorld): Scene[] {
  const at = (name: string, path: string, act?: (page: Page) => Promise<unknown>, isSignedIn = true): Scene => ({
    name: `dashboard-${name}`,
    url: `${server.url}/app/${path}`,
    isSignedIn,
    async ready(page) {
      await settled(page);
      await act?.(page);
    },
  });
  const press = (name: string | RegExp) => (page: Page) => page.getByRole("button", { name }).first().click();
  const tab = (name: string) => `companions/${companion.id}/${name}`;
  return [
    at("sign-in", "sign-in", undefined, false),
    at("companions", "companions"),
    at("companion-new", "companions/new"),
    at("companion", `companions/${companion.id}`),
    at("companion-settings", tab("settings")),
    at("companion-conversations", tab("conversations")),
    at("knowledge", tab("knowledge")),
    at("knowledge-add", tab("knowledge"), press(/^(Add|Write)/)),
    at("tools", tab("tools")),
    at("appearance", tab("appearance"), (page) => page.locator("companion-chat .panel").waitFor()),
    at("appearance-closed", tab("appearance"), press("Closed")),
    at("appearance-answering", tab("appearance"), press("Answering")),
    at("playground", tab("playground")),
    at("playground-visitor", `${tab("playground")}?as=visitor`),
    at("history", tab("history")),
    at("install", tab("install")),
    at("conversations", "conversations"),
    at("conversations-search", "conversations?q=returns"),
    at("conversation", `conversations/${conversation.id}`),
    at("inbox", "inbox"),
    at("inbox-conversation", `inbox?c=${conversation.id}`),
    at("unanswered", "unanswered"),
    at("leads", "leads"),
    at("insights", "insights"),
    at("usage", "usage"),
    at("budgets", "budgets"),
    at("api-keys", "api-keys"),
    at("api-key-new", "api-keys", press("New key")),
    at("visitor-keys", "visitor-keys"),
    at("webhooks", "webhooks"),
    at("audit", "audit"),
    at("members", "members"),
    at("accounts", "accounts"),
    at("server", "server"),
    at("account", "account"),
    at("second-factor", "account/second-factor"),
    at("missing", "nothing"),
  ];
}
