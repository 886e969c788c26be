/** Reads files that the configuration names. */
import { readFileSync } from "node:fs";

export function readText(filePath: string): string | Error {
  try {
    return readFileSync(filePath, "utf8");
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const fileErrors: Record<string, string> = {
  ENOENT: "there is no such file",
  EACCES: "the file may not be read",
  EISDIR: "it is a directory",
};

export function describeFileError(error: Error & { code?: string; path?: string }): string {
  return `${fileErrors[error.code ?? ""] ?? error.message}: ${error.path ?? ""}`;
}

/** Most files end with a line break that belongs to nothing in them. */
export function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, "");
}
