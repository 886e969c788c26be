/** The PostgreSQL engine against the contract of the store. */
import { afterAll, describe } from "bun:test";
import { storeContract } from "../contracts/store.ts";
import { openTemporaryPostgresStore, reuseDatabases } from "../support/postgres-store.ts";

describe("the PostgreSQL engine", () => {
  const databases = reuseDatabases();
  afterAll(() => databases[Symbol.asyncDispose]());
  storeContract(() => openTemporaryPostgresStore({}, databases.make));
});
