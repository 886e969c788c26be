/** Tables of conversations, for the generator of migrations. */
import { tables } from "../tables.ts";

export const { conversations, messages, removals } = tables;
