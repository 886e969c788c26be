/** `companiond read-document`: what the server starts for each document that it reads; not for other use. */
import { readInChild } from "../core/knowledge/reading/child.ts";
import type { DocumentKind } from "../core/knowledge/reading/kind.ts";
import { free, Misuse, oneOf, singleCommand } from "./command.ts";

const kinds: readonly DocumentKind[] = ["pdf", "docx", "html", "markdown", "text", "csv"];

export const readDocumentCommand = singleCommand({
  name: "read-document",
  about: "Read a document from standard input in a confined process. Used by the server itself.",
  data: "none",
  operands: [{ value: oneOf(kinds) }],
  options: { charset: { value: free("encoding"), about: "The encoding that its source declares." } },
  async run({ args }) {
    const kind = kinds.find((one) => one === args.operand(0));
    if (kind === undefined) throw new Misuse(`a document is one of ${kinds.join(", ")}.`);
    await readInChild(kind, args.find("charset") ?? null);
    return null;
  },
});
