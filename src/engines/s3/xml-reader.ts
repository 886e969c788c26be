/** Reads answers of S3, which are small documents of XML; anything else is none. */
import { decodeXmlText } from "../../lib/xml-text.ts";

export interface XmlElement {
  /** Without a prefix. */
  readonly name: string;
  /** Empty for an element with others in it. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

interface OpenElement extends XmlElement {
  text: string;
  readonly children: XmlElement[];
}

/** A page of a thousand objects has a tenth of them. */
const maxElements = 100_000;
const maxDepth = 8;
/** A comment or instruction; a tag, with its slash before or behind the name; or text. Of a document type, none. */
const token =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<(\/?)(?:[\w.-]+:)?([A-Za-z_][\w.-]*)(?:\s[^<>]*?)?(\/?)>|((?:[^<]+|<!\[CDATA\[[\s\S]*?\]\]>)+)/y;

/** Null if the text is not one element, or has too many. Reads each character a few times at most. */
export function readXml(text: string): XmlElement | null {
  const document: OpenElement = { name: "", text: "", children: [] };
  const open = [document];
  let elements = 0;
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const found = token.exec(text);
    const parent = open.at(-1);
    if (found === null || parent === undefined) return null;
    const [, before, name, behind, raw] = found;
    if (raw !== undefined) {
      const decoded = decodeXmlText(raw);
      if (decoded === null || (parent === document && decoded !== "")) return null;
      if (parent.children.length === 0) parent.text += decoded;
    } else if (before === "/") {
      if (parent === document || parent.name !== name) return null;
      open.pop();
    } else if (name !== undefined) {
      const element: OpenElement = { name, text: "", children: [] };
      parent.text = "";
      parent.children.push(element);
      if (++elements > maxElements || open.length > maxDepth) return null;
      if (behind === "") open.push(element);
    }
  }
  const [root, ...others] = document.children;
  return root !== undefined && others.length === 0 && open.length === 1 ? root : null;
}

/** Of the element's own child; null if it has none of the name. */
export function findText(element: XmlElement, name: string): string | null {
  return element.children.find((child) => child.name === name)?.text ?? null;
}
