/**
 * What the server's schemas use of Bun. The dashboard imports their types, so the compiler reads them here as well;
 * a lint rule keeps browser code from using these names.
 */
// biome-ignore lint/suspicious/noExplicitAny: nothing of it becomes part of a wire type
declare const Bun: any;
declare const Buffer: { byteLength(text: string, encoding: "utf8"): number };
