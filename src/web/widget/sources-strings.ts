/** The words around what a reply cites, in English: loaded with the first such reply, and overridable like all others. */

export const sourcesEnglish = {
  sources: "Sources",
  page: "p. {count}",
};
