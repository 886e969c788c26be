/** Files that a command names, and those that they name in turn: read as the caller, and never outside of the directory given. */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { codeOf } from "../../lib/error-code.ts";

/** A file to read, and the directory that links must not lead out of. */
export interface NamedPath {
  /** As people write it: what faults call it. */
  readonly path: string;
  readonly root: string;
}

/** Runs `work`, which is over when it returns, with the rights of who named the file. */
export type AsCaller = <Result>(path: string, work: () => Result) => Result;

/** A file that cannot be read: the end of a sentence about it. */
export class FileRefusal extends Error {}

const readNames = /\.(ya?ml|json)$/i;

/**
 * The files of the paths, each once, in the order of the paths and by name within a folder: a folder is read without its
 * subfolders, a file whatever its name. Throws `FileRefusal` for a path that cannot be read; what of a folder cannot be
 * goes to `refuse`.
 */
export function listFiles(
  paths: readonly string[],
  asCaller: AsCaller,
  refuse: (path: string, refusal: FileRefusal) => void,
): NamedPath[] {
  const found = new Map<string, NamedPath>();
  const add = (path: string, root: string) => {
    try {
      if (asCaller(path, () => statSync(path).isDirectory())) return;
      const real = resolveInside(path, root, asCaller);
      if (!found.has(real)) found.set(real, { path, root });
    } catch (error) {
      refuse(path, toRefusal(path, error));
    }
  };
  for (const path of paths) {
    const isFolder = attempt(path, () => asCaller(path, () => statSync(path).isDirectory()));
    if (!isFolder) {
      // What a link beside others leads to is read where it was named itself.
      const real = attempt(path, () => asCaller(path, () => realpathSync(path)));
      if (!found.has(real)) found.set(real, { path, root: dirname(path) });
      continue;
    }
    const names = attempt(path, () => asCaller(path, () => readdirSync(path))).filter((name) => readNames.test(name));
    for (const name of names.sort()) add(join(path, name), path);
  }
  return [...found.values()];
}

/** The real path of one that a file of the directory names, relative to that file. Throws `FileRefusal`. */
export function resolveNamed(name: string, { path, root }: NamedPath, asCaller: AsCaller): string {
  if (isAbsolute(name)) throw new FileRefusal("must be relative to the file that names it");
  return resolveInside(join(dirname(path), name), root, asCaller);
}

function resolveInside(path: string, root: string, asCaller: AsCaller): string {
  const [real, realRoot] = attempt(path, () => asCaller(path, () => [realpathSync(path), realpathSync(root)] as const));
  const fromRoot = relative(realRoot, real);
  if (fromRoot === ".." || fromRoot.startsWith(`..${sep}`) || isAbsolute(fromRoot)) {
    throw new FileRefusal(`${path} leads out of the directory ${root}`);
  }
  return real;
}

/** All of it, at most `maxBytes`. Throws `FileRefusal`. */
export function readFileOf(path: string, maxBytes: number, asCaller: AsCaller): Uint8Array<ArrayBuffer> {
  return attempt(path, () => {
    // Without waiting for the writer of a pipe.
    const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
    const file = asCaller(path, () => openSync(path, flags));
    try {
      const facts = fstatSync(file);
      if (!facts.isFile()) throw new FileRefusal(`${path} is not a regular file`);
      if (facts.size > maxBytes) throw new FileRefusal(`${path} is larger than ${maxBytes / 1024 ** 2} MiB`);
      const bytes = new Uint8Array(facts.size);
      let at = 0;
      for (let length = -1; length !== 0 && at < bytes.length; at += length) {
        length = readSync(file, bytes, at, bytes.length - at, at);
      }
      return bytes.subarray(0, at);
    } finally {
      closeSync(file);
    }
  });
}

function attempt<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw toRefusal(path, error);
  }
}

/** Throws what is no failure of the system. */
function toRefusal(path: string, error: unknown): FileRefusal {
  if (error instanceof FileRefusal) return error;
  const code = codeOf(error);
  if (code === "") throw error;
  return new FileRefusal(code === "ENOENT" ? `${path} does not exist` : `${path} cannot be read (${code})`);
}
