/** Tables of tools, for the generator of migrations. */
import { tables } from "../tables.ts";
import { erasedRangesTable } from "./conversations.ts";

export const { toolCallTexts, toolCalls, tools } = tables;

export const erasedCallRanges = erasedRangesTable("erased_call_ranges");
