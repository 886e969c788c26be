/** The SQLite engine against the contract of the store. */
import { describe } from "bun:test";
import { storeContract } from "../contracts/store.ts";
import { openTemporaryStore } from "../support/sqlite-store.ts";

describe("the SQLite engine", () => {
  storeContract(openTemporaryStore);
});
