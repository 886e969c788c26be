/** The PostgreSQL engine against the contract of the store. */
import { afterAll, describe } from "bun:test";
import { storeContract } from "../contracts/store.ts";
import { reuseStores } from "../support/postgres-store.ts";

describe("the PostgreSQL engine", () => {
  const stores = reuseStores();
  afterAll(() => stores[Symbol.asyncDispose]());
  storeContract(stores.open);
});
