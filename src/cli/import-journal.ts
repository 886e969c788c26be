/** Records how far the import of a file got, so that an interrupted one resumes there and creates nothing twice. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface ImportJournal {
  /** Together with the line's position, determines the companion's id: a second run creates the same ids. */
  readonly seed: string;
  readonly startedAt: number;
  /** Companions known to be stored. */
  kept: number;
  finishedAt: number | null;
}

export interface JournalFile {
  /** Null if no import of this file into this account was started. */
  read(): ImportJournal | null;
  write(journal: ImportJournal): void;
}

/** `digest` is that of the imported file. */
export function openJournal(dataDir: string, accountId: string, digest: string): JournalFile {
  const path = join(dataDir, "imports", `${accountId}-${digest.slice(0, 32)}.json`);
  return {
    read() {
      try {
        return JSON.parse(readFileSync(path, "utf8")) as ImportJournal;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
        throw error;
      }
    },
    write(journal) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      // Renamed into place: after a crash there is the old journal or the new one, never half of one.
      rmSync(`${path}.new`, { force: true });
      writeFileSync(`${path}.new`, JSON.stringify(journal), { mode: 0o600, flag: "wx", flush: true });
      renameSync(`${path}.new`, path);
    },
  };
}

/** The UUIDv7 of the companion at `index` (from 0): sorts like the lines, and is the same in every run. */
export function importedId(journal: Pick<ImportJournal, "seed" | "startedAt">, index: number): string {
  const random = Bun.SHA256.hash(`${journal.seed} ${index}`, "hex");
  // A millisecond's counter has room for 4096 ids: a million ids run a quarter of a second ahead of the clock.
  const time = (journal.startedAt + Math.floor(index / 4096)).toString(16).padStart(12, "0");
  const counter = (index % 4096).toString(16).padStart(3, "0");
  const variant = ((Number.parseInt(random.slice(0, 1), 16) & 3) | 8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${variant}${random.slice(1, 4)}-${random.slice(4, 16)}`;
}
