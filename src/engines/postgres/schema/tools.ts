/** Tables of tools, for the generator of migrations. */
import { tables } from "../tables.ts";

export const { toolCallTexts, toolCalls, tools } = tables;
