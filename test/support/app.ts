/**
 * A complete server for tests: real HTTP on loopback, a mock language model, and a real database of the engine in
 * `engine.ts`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OpenedServices, openServices, type ServiceOverrides } from "../../src/app/services.ts";
import { loadCertificate } from "../../src/cli/certificate.ts";
import { loadConfig } from "../../src/config/config.ts";
import type { Account, Plan, Role, Scope } from "../../src/domain/account.ts";
import { scopes as allScopes } from "../../src/domain/account.ts";
import { type Companion, type CompanionSettings, newCompanionSettings } from "../../src/domain/companion.ts";
import { apiKeyEnds, makeApiKey, makeEmbedToken } from "../../src/domain/credentials.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { sha256 } from "../../src/lib/sha256.ts";
import { type ServerOptions, startServer } from "../../src/server/server.ts";
import { assertSilent, createCapturedLog } from "./captured-log.ts";
import { dropEngineDatabase, engineEnvironment, isOnPostgres } from "./engine.ts";
import { type MockLlm, startMockLlm } from "./mock-llm.ts";
import { provideSqlite } from "./sqlite-template.ts";
import { testContext } from "./test-context.ts";

export { testContext } from "./test-context.ts";

export interface TestServerOptions extends ServiceOverrides {
  /** Environment variables in addition to the test's own. */
  environment?: Record<string, string>;
  /** A directory to keep, for tests of restarts; otherwise a temporary one that `close` removes. */
  dataDir?: string;
  /** True: other servers will work on the same data at the same time. */
  isShared?: boolean;
  /** True: no mock; the built-in demo replies. */
  isDemoProvider?: boolean;
  /** True: HTTPS, with an untrusted certificate. */
  isTls?: boolean;
  sleep?: NonNullable<ServerOptions["sleep"]>;
}

export interface TestServer {
  /** Without a trailing slash. */
  url: string;
  services: OpenedServices;
  mockLlm: MockLlm;
  log: ReturnType<typeof createCapturedLog>;
  dataDir: string;
  createAccount(fields?: { email?: string; plan?: Plan; role?: Role }): Promise<Account>;
  /** A key with every scope by default; `key` is the secret. */
  createKey(account: Account, scopes?: readonly Scope[]): Promise<{ id: string; key: string }>;
  /** Does what `companiond account grant-agent` does. */
  grantAgent(accountId: string, agentId: string): Promise<void>;
  /** A companion with its embed token, of a new account by default. */
  createCompanion(
    settings?: Partial<CompanionSettings>,
    account?: Account,
  ): Promise<Companion & { embedToken: string }>;
  /** Does what the process does on SIGTERM; `close` is still needed. */
  drain(graceMs: number): Promise<void>;
  /** Drains and removes the temporary directory. */
  close(): Promise<void>;
}

/** Limits are high unless a test sets them, so that requests of tests are not refused. */
const roomyLimits = {
  COMPANIOND_RATE_PER_IP: "1000000",
  COMPANIOND_RATE_PER_TOKEN: "1000000",
  COMPANIOND_RATE_PER_KEY: "1000000",
  COMPANIOND_CHAT_RATE_PER_KEY: "1000000",
  COMPANIOND_STREAMS_PER_IP: "1000000",
  COMPANIOND_LIVE_RATE_PER_IP: "1000000",
  COMPANIOND_LIVE_PER_IP: "1000000",
};

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "companiond-test-"));
  if (!isOnPostgres) await provideSqlite(dataDir);
  const mockLlm = await startMockLlm();
  const provider = options.isDemoProvider
    ? {}
    : {
        OPENAI_API_KEY: "sk-test-key-of-the-mock",
        OPENAI_BASE_URL: `${mockLlm.url}/v1`,
        COMPANIOND_MODEL: "test-model",
      };
  const certificate = join(import.meta.dir, "../fixtures/tls/one");
  const files = { "tls-cert": `${certificate}.cert.pem`, "tls-key": `${certificate}.key.pem` };
  const config = loadConfig({
    ...(options.isTls ? { flags: files } : {}),
    environment: {
      COMPANIOND_DATA_DIR: dataDir,
      PORT: "0",
      ...provider,
      ...roomyLimits,
      ...(await engineEnvironment(dataDir, options)),
      ...options.environment,
    },
  });
  const log = createCapturedLog();
  // Tests that are about it turn it on: a provider that is asked automatically would count a connection and a request more.
  const services = await openServices(config, { log, modelDatesAfterMs: 24 * 60 * 60_000, ...options });
  const tls = await loadCertificate(config);
  const { instanceUrl } = config;
  const server = startServer(services, {
    ...{ host: "127.0.0.1", port: 0, instanceUrl, wakeAfterMs: 0 },
    ...(tls === null ? {} : { tls }),
    ...(options.sleep === undefined ? {} : { sleep: options.sleep }),
  });
  let made = 0;

  async function createAccount(fields: { email?: string; plan?: Plan; role?: Role } = {}): Promise<Account> {
    made++;
    const { email = `account-${made}@example.com`, plan = "free", role = "owner" } = fields;
    const account = { id: systemIds.uuid(), email, plan, role, passwordHash: null };
    return await services.store.accounts.create(account, testContext());
  }

  return {
    url: server.url,
    services,
    mockLlm,
    log,
    dataDir,
    createAccount,
    async createKey(account, scopes = allScopes) {
      const key = makeApiKey(systemIds.secret);
      const made = await services.store.apiKeys.create(
        account.id,
        {
          id: systemIds.uuid(),
          name: "test",
          ...apiKeyEnds(key),
          createdByKeyId: null,
          hash: sha256(key),
          scopes,
          expiresAt: null,
        },
        testContext(),
      );
      return { id: made.id, key };
    },
    async grantAgent(accountId, agentId) {
      await services.store.voiceAgentGrants.grant(accountId, agentId, testContext());
    },
    async createCompanion(settings = {}, account) {
      const owner = account ?? (await createAccount());
      const token = makeEmbedToken(systemIds.secret);
      const companion = await services.store.companions.create(
        owner.id,
        {
          ...newCompanionSettings("Ada"),
          ...settings,
          id: systemIds.uuid(),
          createdByKeyId: null,
          embedToken: { id: systemIds.uuid(), token },
        },
        testContext(),
      );
      return { ...companion, embedToken: token };
    },
    drain: (graceMs) => server.drain(graceMs),
    async close() {
      await server.drain(1_000);
      await mockLlm.close();
      if (options.dataDir === undefined) {
        rmSync(dataDir, { recursive: true, force: true });
        await dropEngineDatabase(dataDir);
      }
      assertSilent(
        log,
        mockLlm.requests.map(({ userText }) => userText),
      );
    },
  };
}
