/** Tables of people, for the generator of migrations. */
import { tables } from "../tables.ts";

export const {
  handoffs,
  handoffChanges,
  handoffEvents,
  handoffSpans,
  messageAuthors,
  conversationNotes,
  readMarks,
  presence,
  contacts,
  ratings,
} = tables;
