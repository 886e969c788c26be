/** A text as its owner wrote it, through an editor that knows one line end: what nobody touched stays byte for byte. */
import { call, send } from "../lib/api.ts";
import type { Source } from "../lib/types.ts";

export interface KeptText {
  source: Source;
  text: string;
}

/** As the API takes it. */
export interface WrittenText {
  title: string;
  text: string;
  url: string | null;
}

export function toWritten({ source: { title, url }, text }: KeptText): WrittenText {
  return { title, text, url };
}

/** In this order: the tag of the source is then never newer than the text. */
export async function readKeptText(path: string, signal?: AbortSignal): Promise<KeptText> {
  const options = signal === undefined ? {} : { signal };
  const source = await call<Source>("GET", path, options);
  const response = await send("GET", `${path}/text`, options);
  // `text()` would leave out a byte order mark.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return { source, text: decoder.decode(await response.arrayBuffer()) };
}

/** As a text area has it. */
export function toEdited(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** What is saved of `edited`: the text itself while it says the same, and otherwise with the line ends that all of it had. */
export function fromEdited(edited: string, before: string): string {
  if (edited === toEdited(before)) return before;
  const hasOthers = /\r(?!\n)|(?<!\r)\n/.test(before);
  return before.includes("\n") && !hasOthers ? edited.replaceAll("\n", "\r\n") : edited;
}
