/** The companion of turns that are tested without a store. */
import { newCompanionSettings } from "../../src/domain/companion.ts";

export const turnCompanion = {
  ...newCompanionSettings("Ada"),
  id: "companion-1",
  accountId: "account-1",
  hasSources: false,
  toolCount: 0,
  version: 1,
  hadPeople: false,
  ...{ avatarHash: null, avatarBytes: null, seenOn: null },
  embedToken: null,
  createdByKeyId: null,
  createdAt: 0,
  updatedAt: 0,
};
