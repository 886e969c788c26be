/** The PostgreSQL engine against the contract of the store. */
import { describe } from "bun:test";
import { storeContract } from "../contracts/store.ts";
import { openTemporaryPostgresStore } from "../support/postgres-store.ts";

describe("the PostgreSQL engine", () => {
  storeContract(openTemporaryPostgresStore);
});
