/** `companiond backup-storage`: what the server and commands start to speak to the storage of backups. */
import { encryptWithAge } from "../backups/age.ts";
import { readCatalog } from "../backups/catalog.ts";
import { fetchBackup } from "../backups/fetching.ts";
import { storageCommandName } from "../backups/storage-process.ts";
import type { StorageTask, StorageTasks } from "../backups/tasks.ts";
import { uploadBackup } from "../backups/upload.ts";
import { openBackupStorage } from "../services.ts";
import { CommandFailure, singleCommand } from "./command.ts";

/** Several times what the largest databases need: some parts of what is sent. */
const mostMemoryBytes = 1024 * 1024 * 1024;

export const backupStorageCommand = singleCommand({
  name: storageCommandName,
  about: "Do what standard input says with the storage of backups. Used by companiond itself.",
  data: "none",
  async run({ io }) {
    const stopping = new AbortController();
    void io.takeStopSignal().then((signal) => stopping.abort(new Error(`stopped by ${signal}`)));
    const task: StorageTask = JSON.parse(await io.readInput());
    const answer = await Promise.race([
      perform(task, stopping.signal),
      rejectOnStop(task, stopping.signal),
      rejectOnGrowth(),
    ]);
    await io.writeOut(JSON.stringify(answer));
    return null;
  },
});

async function perform(task: StorageTask, stop: AbortSignal): Promise<StorageTasks[keyof StorageTasks]["answer"]> {
  const storage = await openBackupStorage(task.place);
  if (task.kind === "upload") return await uploadBackup(storage, task.asked, stop);
  if (task.kind === "fetch") return await fetchBackup(storage, task.asked);
  const { ageRecipient } = task.asked;
  if (ageRecipient !== null) await encryptWithAge(nothing(), ageRecipient);
  return (await readCatalog(storage)).good;
}

/** An upload stops by itself, and has the storage drop its parts; anything else may end at once. */
function rejectOnStop(task: StorageTask, stop: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  if (task.kind !== "upload") stop.addEventListener("abort", () => reject(stop.reason));
  return promise;
}

/** The client reads an answer to its end, however long: whoever answers could otherwise use up the machine's memory. */
function rejectOnGrowth(): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const look = () => {
    if (process.memoryUsage.rss() <= mostMemoryBytes) return;
    reject(
      new CommandFailure(
        "The storage answers with far more than it was asked for. Check COMPANIOND_BACKUP_S3_ENDPOINT.",
      ),
    );
  };
  setInterval(look, 200).unref();
  return promise;
}

async function* nothing(): AsyncIterable<Uint8Array> {}
