/**
 * The setup for browser tests of the dashboard: the executable on a new database with a mock language model, accounts,
 * and a browser whose pages must not report errors.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { NewMember } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import { makeOneTimeLink } from "../../src/domain/one-time-link.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { hashPassword } from "../../src/lib/password-hash.ts";
import { type ApiClient, apiClient } from "./api-client.ts";
import { launchBrowser, type OpenedPage, openPage, type PageOptions } from "./browser.ts";
import { type RunningExecutable, runExecutable, startExecutable } from "./executable.ts";
import { type MockLlm, startMockLlm } from "./mock-llm.ts";
import { openStoreAt } from "./sqlite-store.ts";
import { storeSession } from "./stored-session.ts";
import { testContext } from "./test-context.ts";

export const password = "correct horse battery staple";

export interface SignedInPage extends OpenedPage {
  email: string;
  accountId: string;
  /** The same account's API, with its own session. */
  api: ApiClient;
}

export interface DashboardWorld extends AsyncDisposable {
  server: RunningExecutable;
  mockLlm: MockLlm;
  /** The set-up link as the server has written it, as long as it is unused. */
  readSetUpLink(): string;
  /** Runs a command of the executable on the server's data. */
  run(...args: string[]): Promise<Record<string, string>>;
  /** With the password, past the server, as `companiond account create` does. */
  createAccount(email: string, role?: "owner" | "operator"): Promise<Account>;
  /** A separate browser context, with no one signed in. */
  open(options?: PageOptions): Promise<OpenedPage>;
  /** A separate browser context, signed in with a new account, at the given page. */
  openAs(role: "owner" | "operator", path: string, options?: PageOptions): Promise<SignedInPage>;
  /** The same for a new member of the owner's account, who has joined; by default a responder for all companions. */
  openMember(
    owner: Pick<SignedInPage, "accountId">,
    path: string,
    fields?: Partial<NewMember>,
    options?: PageOptions,
  ): Promise<SignedInPage>;
  /** A visitor writes to a companion. */
  say(embedToken: string, message: string, visitorId?: string): Promise<void>;
}

export async function openDashboardWorld(env: Record<string, string> = {}): Promise<DashboardWorld> {
  const mockLlm = await startMockLlm();
  const [browser, server] = await Promise.all([
    launchBrowser(),
    startExecutable({
      env: {
        OPENAI_API_KEY: "sk-test-key-of-the-mock",
        OPENAI_BASE_URL: `${mockLlm.url}/v1`,
        COMPANIOND_MODEL: "test-model",
        COMPANIOND_MODELS: "test-model,bigger-model",
        COMPANIOND_RATE_PER_IP: "100000",
        COMPANIOND_STREAMS_PER_IP: "100000",
        COMPANIOND_RATE_PER_TOKEN: "100000",
        ...env,
      },
    }),
  ]);
  const [store, passwordHash] = await Promise.all([openStoreAt(server.dataDir), hashPassword(password)]);
  let accounts = 0;

  async function run(...args: string[]) {
    const { exitCode, stdout, stderr } = await runExecutable([...args, "--json", "--data-dir", server.dataDir], {
      input: password,
    });
    if (exitCode !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  }

  async function open(options?: PageOptions): Promise<OpenedPage> {
    const opened = await openPage(browser, { viewport: { width: 1280, height: 860 }, ...options });
    const { page, complaints, close } = opened;
    // Without a session, the request for the signed-in account gets 401, which the console reports as an error.
    const isExpected = (text: string) => /the server responded with a status of 4\d\d/.test(text);
    return {
      page,
      close,
      get complaints() {
        return complaints.filter((text) => !isExpected(text));
      },
    };
  }

  function createAccount(email: string, role: Account["role"] = "owner"): Promise<Account> {
    return store.accounts.create({ id: systemIds.uuid(), email, plan: "free", role, passwordHash }, testContext());
  }

  async function openSignedIn(
    { accountId, memberId, email }: { accountId: string; memberId: string | null; email: string },
    path: string,
    options?: PageOptions,
  ): Promise<SignedInPage> {
    const makeSession = () => storeSession(store, accountId, Date.now(), memberId);
    const [forPage, forApi] = [await makeSession(), await makeSession()];
    const opened = await open(options);
    const [name = "", value = ""] = forPage.cookie.split("=");
    await opened.page.context().addCookies([{ name, value, url: server.url, httpOnly: true, sameSite: "Lax" }]);
    await opened.page.goto(server.url + path);
    const client = apiClient(server.url, null);
    const api: ApiClient = {
      call: (method, path, body, headers = {}) =>
        client.call(method, path, body, { cookie: forApi.cookie, ...headers }),
    };
    return {
      page: opened.page,
      close: opened.close,
      get complaints() {
        return opened.complaints;
      },
      ...{ email, accountId, api },
    };
  }

  return {
    server,
    mockLlm,
    run,
    createAccount,
    open,
    readSetUpLink: () => readFileSync(join(server.dataDir, "setup-link"), "utf8").trim(),
    async openAs(role, path, options) {
      const email = `${role}-${++accounts}@example.com`;
      const { id } = await createAccount(email, role);
      return await openSignedIn({ accountId: id, memberId: null, email }, path, options);
    },
    async openMember({ accountId }, path, fields = {}, options) {
      const id = systemIds.uuid();
      const defaults = { email: `member-${++accounts}@example.com`, name: "Grace", role: "responder" } as const;
      const member: NewMember = { id, ...defaults, companionIds: null, ...fields };
      const { kept } = makeOneTimeLink({ kind: "invitation", accountId, memberId: id }, systemIds, systemClock);
      await store.members.create(accountId, member, kept, testContext());
      await store.sessions.spendInvitation(kept.hash, passwordHash, testContext());
      return await openSignedIn({ accountId, memberId: id, email: member.email }, path, options);
    },
    async say(embedToken, message, visitorId) {
      const response = await apiClient(server.url, null).call("POST", `/api/embed/${embedToken}/chat`, {
        message,
        ...(visitorId === undefined ? {} : { visitor_id: visitorId }),
      });
      if (response.status !== 200) throw new Error(response.text);
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      await server[Symbol.asyncDispose]();
      await mockLlm.close();
    },
  };
}

/** Resolves once the page has this heading. */
export async function atPage(page: Page, title: string): Promise<void> {
  await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
}

/** Chooses from the menu of the account, in the sidebar. */
export async function chooseFromAccountMenu(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: /^Account: / }).click();
  await page.getByRole("menu").getByText(name, { exact: true }).click();
}

/** To a page of the dashboard as a link leads there: without loading the dashboard again, which takes three times as long. */
export function follow(page: Page, path: string): Promise<void> {
  return page.evaluate((href) => {
    const { document } = Object(globalThis);
    const link = Object.assign(document.createElement("a"), { href });
    document.body.append(link);
    link.click();
    link.remove();
  }, path);
}
