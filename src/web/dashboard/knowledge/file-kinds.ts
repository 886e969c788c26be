/** Which files can be read, said before they are sent. */

const extensions = ["pdf", "docx", "html", "htm", "xhtml", "md", "markdown", "txt", "text", "log", "csv", "tsv"];
const maxBytes = 20 * 1024 * 1024;

/** For the file chooser. */
export const acceptedFiles = extensions.map((extension) => `.${extension}`).join(",");

export const kindsSentence = "PDF, Word (.docx), HTML, Markdown, text and CSV, up to 20 MiB each.";

/** Why the file would be refused; null if it would not. Files without an extension are looked at by the server. */
export function findFileProblem({ name, size }: Pick<File, "name" | "size">): string | null {
  const extension = /[^.]\.([^.]+)$/.exec(name)?.[1]?.toLowerCase();
  if (extension !== undefined && !extensions.includes(extension)) {
    return `Files of this kind are not read. Save it as one of these: ${kindsSentence}`;
  }
  if (size > maxBytes) return "It is larger than 20 MiB. Split it into smaller files.";
  return size === 0 ? "The file is empty." : null;
}
