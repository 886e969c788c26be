/** What is asked of the process that speaks to the storage, and what it answers: one JSON value each. */
import type { StoragePlace } from "../../contracts/backup-storage.ts";
import type { StoredBackup } from "./catalog.ts";
import type { Fetched, Fetching } from "./fetching.ts";
import type { Upload, Uploaded } from "./upload.ts";

/** The task and its result, by kind. */
export interface StorageTasks {
  upload: { asked: Upload; answer: Uploaded };
  /** Good ones, newest first; the recipient, if there is one, is tried. */
  list: { asked: { ageRecipient: string | null }; answer: StoredBackup[] };
  fetch: { asked: Fetching; answer: Fetched };
}

export type StorageTask = {
  [Kind in keyof StorageTasks]: { kind: Kind; place: StoragePlace; asked: StorageTasks[Kind]["asked"] };
}[keyof StorageTasks];
