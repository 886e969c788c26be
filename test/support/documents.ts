/** Makes small documents of each kind for tests, among them broken, locked and hostile ones. */
import { crc32, deflateRawSync } from "node:zlib";

/** Lines of a page, each with a size of its characters; null is a page that is a picture. */
export type PdfPage = readonly (readonly [text: string, size: number])[] | null;

/** ASCII only. A locked one asks for a password, which no one knows. */
export function makePdf(
  pages: readonly PdfPage[],
  options: { title?: string; isLocked?: boolean; lacksFont?: boolean } = {},
): Uint8Array<ArrayBuffer> {
  const objects: string[] = [];
  const add = (body: string) => objects.push(body);
  add("<< /Type /Catalog /Pages 2 0 R >>");
  add(`<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${5 + at * 2} 0 R`).join(" ")}] >>`);
  add(
    options.lacksFont
      ? japaneseFont
      : "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
  );
  add(`<< /Title (${options.title ?? ""}) >>`);
  for (const [at, page] of pages.entries()) {
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${6 + at * 2} 0 R ` +
        "/Resources << /Font << /F1 3 0 R >> >> >>",
    );
    const drawn = page === null ? "0 0 595 842 re f" : drawLines(page);
    add(`<< /Length ${drawn.length} >>\nstream\n${drawn}\nendstream`);
  }
  const lock = `<< /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <${"41".repeat(32)}> /U <${"42".repeat(32)}> >>`;
  if (options.isLocked) add(lock);
  let file = "%PDF-1.5\n";
  const places = objects.map((body, at) => {
    const place = file.length;
    file += `${at + 1} 0 obj\n${body}\nendobj\n`;
    return place;
  });
  const table = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  const id = `<${"00".repeat(16)}>`;
  const locked = options.isLocked ? `/Encrypt ${objects.length} 0 R /ID [${id} ${id}]` : "";
  return Buffer.from(
    `${file}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n` +
      `<< /Size ${objects.length + 1} /Root 1 0 R /Info 4 0 R ${locked} >>\nstartxref\n${file.length}\n%%EOF\n`,
    "latin1",
  );
}

/** Its characters can be decoded only with tables that the file does not have. */
const japaneseFont =
  "<< /Type /Font /Subtype /Type0 /BaseFont /Gothic /Encoding /90ms-RKSJ-H /DescendantFonts [<< /Type /Font " +
  "/Subtype /CIDFontType2 /BaseFont /Gothic /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> >>] >>";

function drawLines(lines: readonly (readonly [text: string, size: number])[]): string {
  let top = 800;
  const drawn = lines.map(([text, size]) => {
    top -= size * 1.3;
    // A tab starts a cell of a table.
    const cells = text.split("\t").map((cell, at) => {
      const escaped = cell.replace(/[\\()]/g, "\\$&");
      return `1 0 0 1 ${60 + at * 150} ${top.toFixed(1)} Tm (${escaped}) Tj`;
    });
    return `/F1 ${size} Tf ${cells.join(" ")}`;
  });
  return `BT ${drawn.join("\n")} ET`;
}

/** With what an archive declares of a file's size instead of the truth, if given. */
export function makeZip(files: Readonly<Record<string, string | Uint8Array>>, declaredBytes?: number): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content as string);
    const packed = deflateRawSync(bytes);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(declaredBytes ?? bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\0"), common, place, Buffer.from(name)]));
    parts.push(local);
    at += local.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, entries, end]);
}

const namespaces = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const packageRelations = "http://schemas.openxmlformats.org/package/2006";

/** `body` is what stands in `<w:body>`. */
export function makeDocx(body: string, declaredBytes?: number): Uint8Array {
  const style = (id: string, name: string) =>
    `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/></w:style>`;
  return makeZip(
    {
      "[Content_Types].xml":
        `<Types xmlns="${packageRelations}/content-types"><Default Extension="rels" ContentType="x"/>` +
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
      "_rels/.rels":
        `<Relationships xmlns="${packageRelations}/relationships">` +
        `<Relationship Id="r1" Type="${relations}/officeDocument" Target="word/document.xml"/></Relationships>`,
      "word/_rels/document.xml.rels":
        `<Relationships xmlns="${packageRelations}/relationships">` +
        `<Relationship Id="r1" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
      "word/styles.xml": `<w:styles ${namespaces}>${style("H1", "heading 1")}${style("T", "Title")}</w:styles>`,
      "word/document.xml": `<w:document ${namespaces}><w:body>${body}</w:body></w:document>`,
      "docProps/core.xml":
        '<cp:coreProperties xmlns:cp="x" xmlns:dc="y"><dc:title>Rules &amp; hours</dc:title></cp:coreProperties>',
    },
    declaredBytes,
  );
}

export function docxParagraph(text: string, style?: string): string {
  const properties = style === undefined ? "" : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`;
  return `<w:p>${properties}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
}

export function docxTable(rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => `<w:tc>${docxParagraph(text)}</w:tc>`;
  return `<w:tbl>${rows.map((row) => `<w:tr>${row.map(cell).join("")}</w:tr>`).join("")}</w:tbl>`;
}
