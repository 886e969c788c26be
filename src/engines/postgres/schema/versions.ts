/** Tables of what companions were, for the generator of migrations. */
import { tables } from "../tables.ts";

export const { appliedCompanions, companionDrafts, companionTexts, companionVersions } = tables;
