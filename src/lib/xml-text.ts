/** Text of XML documents: read with CDATA, the five entities of the language, and numbers; written with numbers alone. */

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Null if it has an entity of its own: what that stands for is up to the document, and could be anything. */
export function decodeXmlText(raw: string): string | null {
  let isForeign = false;
  const text = raw.replace(
    /<!\[CDATA\[([\s\S]*?)\]\]>|&(#?[A-Za-z0-9]{1,12});/g,
    (_, literal?: string, entity?: string) => {
      if (literal !== undefined) return literal;
      const [, hex, decimal] = /^#(?:x([0-9a-f]{1,6})|(\d{1,7}))$/i.exec(entity ?? "") ?? [];
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      if (code > 0 && code <= 0x10ffff) return String.fromCodePoint(code);
      const known = entity !== undefined && Object.hasOwn(named, entity) ? named[entity] : undefined;
      if (known === undefined) isForeign = true;
      return known ?? "";
    },
  );
  return isForeign ? null : text.trim();
}

/** For elements and attributes; what no XML document can hold is left out. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "")
    .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
