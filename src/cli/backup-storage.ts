/** `companiond backup-storage`: what the server and commands start to speak to the storage of backups. */
import { openBackupStorage } from "../app/services.ts";
import { encryptWithAge } from "../core/backups/age.ts";
import { fetchBackup } from "../core/backups/fetching.ts";
import { readCatalog } from "../core/backups/names.ts";
import { type StorageTask, type StorageTasks, storageCommandName } from "../core/backups/storage-process.ts";
import { uploadBackup } from "../core/backups/upload.ts";
import { singleCommand } from "./command.ts";

export const backupStorageCommand = singleCommand({
  name: storageCommandName,
  about: "Run what standard input describes on the storage of backups. Used by companiond itself.",
  data: "none",
  async run({ io }) {
    const stopping = new AbortController();
    void io.takeStopSignal().then((signal) => stopping.abort(new Error(`stopped by ${signal}`)));
    const task: StorageTask = JSON.parse(await io.readInput());
    const answer = await Promise.race([perform(task, stopping.signal), rejectOnStop(task, stopping.signal)]);
    await io.writeOut(JSON.stringify(answer));
    return null;
  },
});

async function perform(task: StorageTask, stop: AbortSignal): Promise<StorageTasks[keyof StorageTasks]["answer"]> {
  const storage = await openBackupStorage(task.location);
  if (task.kind === "upload") return await uploadBackup(storage, task.asked, stop);
  if (task.kind === "fetch") return await fetchBackup(storage, task.asked);
  const { ageRecipient } = task.asked;
  if (ageRecipient !== null) await encryptWithAge(nothing(), ageRecipient);
  return (await readCatalog(storage)).good;
}

/** An upload stops on its own, and has the storage drop its parts; anything else may end immediately. */
function rejectOnStop(task: StorageTask, stop: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  if (task.kind !== "upload") stop.addEventListener("abort", () => reject(stop.reason));
  return promise;
}

async function* nothing(): AsyncIterable<Uint8Array> {}
