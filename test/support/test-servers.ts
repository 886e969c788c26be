/** PostgreSQL and Redis for all tests of a run, named in the environment for this process and those that it starts. */
import { provideData, startPostgresServer } from "./postgres-server.ts";
import { startRedisServer } from "./redis-server.ts";

/** Starts those that are not named yet, and ends them. */
export async function startTestServers(): Promise<AsyncDisposable> {
  const started = new AsyncDisposableStack();
  try {
    if (process.env["COMPANIOND_TEST_POSTGRES"] === undefined) {
      started.use(await provideData());
      process.env["COMPANIOND_TEST_POSTGRES"] = started.use(await startPostgresServer()).serverUrl;
    }
    if (process.env["COMPANIOND_TEST_REDIS"] === undefined) {
      process.env["COMPANIOND_TEST_REDIS"] = started.use(await startRedisServer()).url;
    }
  } catch (error) {
    await started.disposeAsync();
    throw error;
  }
  return started;
}
