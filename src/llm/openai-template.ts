/**
 * The fast way through a stream: most of its lines differ from the one before in the delta's text alone.
 *
 * A line that JSON.parse has read becomes a template: what stands before the text, and what stands after it. A later
 * line made of the same parts around another plain string is the same document with another text, so that nothing
 * needs to be parsed. OpenAI also pads each chunk with an `obfuscation` of varying length: a second such place.
 */
import { parseJson, readChunk } from "./openai-chunk.ts";

/** No quote, backslash or control character: between quotes it is a JSON string, whatever else it holds. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them unescaped.
const needsParsing = /[\u0000-\u001f"\\]/;
/** The same of ASCII alone: its bytes are the text. */
const isPlainAscii = /^[ !#-[\]-\u007f]*$/;

const carriageReturn = 13;
const lineFeed = 10;

const textProbe = "probe of the text";
const paddingProbe = "probe of the padding";
const paddingStart = '"obfuscation":"';

export interface ChunkTemplate {
  before: string;
  after: string;
  /** What follows the padding; null where there is none and `after` ends the line. */
  afterPadding: string | null;
  /** What ends an event, and what stands between the texts of two; null where there is padding. */
  run: { end: string; between: string } | null;
}

/** Makes a template of a `data:` line that yielded `text`, or null where it would not be safe. */
export function learnTemplate(line: string, dataStart: number, text: string): ChunkTemplate | null {
  if (text === "" || text === textProbe || !isPlainAscii.test(text)) return null;
  const quoted = `"${text}"`;
  // The right place is the one where another text makes another reply; the first that looks like it nearly always is.
  const at = line.indexOf(`"content":${quoted}`, dataStart);
  if (at === -1) return null;
  const before = line.substring(0, at + '"content":"'.length);
  let after = line.substring(before.length + text.length);
  let afterPadding: string | null = null;
  const padding = after.indexOf(paddingStart);
  if (padding !== -1) {
    const paddingAt = padding + paddingStart.length;
    const paddingEnd = after.indexOf('"', paddingAt);
    if (paddingEnd === -1) return null;
    afterPadding = after.substring(paddingEnd);
    after = after.substring(0, paddingAt);
  }
  const end = `${after}\n\n`;
  const run = afterPadding === null ? { end, between: end + before } : null;
  const template = { before, after, afterPadding, run };
  return isProven(template, dataStart) ? template : null;
}

/** Puts probes into the places and reads the whole: the text must be the reply. The padding is a string, and never read. */
function isProven({ before, after, afterPadding }: ChunkTemplate, dataStart: number): boolean {
  const tail = afterPadding === null ? "" : paddingProbe + afterPadding;
  const reading = readChunk(parseJson(before.substring(dataStart) + textProbe + after + tail));
  return (
    reading?.text === textProbe && reading.finishReason === null && reading.usage === null && reading.error === null
  );
}

/** Where the match ended, and of what kind its text is; valid until the next match, so that none needs an object. */
export const lastMatch = { end: 0, isAscii: false, units: 0 };

/** The text of the line at `start`, or null where there is no whole line of the template. */
export function matchTemplate(template: ChunkTemplate, input: string, start: number): string | null {
  const { before, after, afterPadding } = template;
  if (!input.startsWith(before, start)) return null;
  const textStart = start + before.length;
  const textEnd = input.indexOf('"', textStart);
  if (textEnd === -1 || !input.startsWith(after, textEnd)) return null;
  let end = textEnd + after.length;
  if (afterPadding !== null) {
    const paddingEnd = input.indexOf('"', end);
    if (paddingEnd === -1 || !input.startsWith(afterPadding, paddingEnd)) return null;
    if (needsParsing.test(input.substring(end, paddingEnd))) return null;
    end = paddingEnd + afterPadding.length;
  }
  // The template's line may be the beginning of a longer one, or of one that the read cut off.
  if (input.charCodeAt(end) === carriageReturn) end++;
  if (input.charCodeAt(end) !== lineFeed) return null;
  const text = input.substring(textStart, textEnd);
  const isAscii = isPlainAscii.test(text);
  if (!isAscii && needsParsing.test(text)) return null;
  lastMatch.end = end + 1;
  lastMatch.isAscii = isAscii;
  return isAscii ? text : Buffer.from(text, "latin1").toString("utf8");
}

/**
 * The texts of the events from `start` on, as many as follow one another whole, and are neither empty nor anything but
 * plain ASCII, which `matchTemplate` is for. A third of its price: what stands between two texts is compared at once.
 */
export function matchRun({ before, run }: ChunkTemplate, input: string, start: number): string[] {
  const texts: string[] = [];
  if (run === null || !input.startsWith(before, start)) return texts;
  let textStart = start + before.length;
  let units = 0;
  for (;;) {
    const textEnd = input.indexOf('"', textStart);
    if (textEnd <= textStart) break;
    const isFollowed = input.startsWith(run.between, textEnd);
    if (!isFollowed && !input.startsWith(run.end, textEnd)) break;
    const text = input.substring(textStart, textEnd);
    // At once: what follows would be looked through again behind each text that is not plain.
    if (!isPlainAscii.test(text)) break;
    texts.push(text);
    units += text.length;
    if (!isFollowed) break;
    textStart = textEnd + run.between.length;
  }
  lastMatch.units = units;
  lastMatch.end = start + units + texts.length * (before.length + run.end.length);
  return texts;
}
