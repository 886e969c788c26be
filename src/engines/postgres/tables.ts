/** The tables that both databases have, in PostgreSQL. */
import { tablesOf } from "../store-shared/tables/tables.ts";
import { postgres } from "./dialect.ts";

export const tables = tablesOf(postgres);
