/** Forms as clients write them, and as nobody should. */
import { expect, test } from "bun:test";
import { findBoundary, MultipartFault, parseMultipart } from "../../src/lib/multipart.ts";

const read = (text: string, boundary = "b", maxParts = 4) =>
  parseMultipart(Buffer.from(text), boundary, maxParts).map(({ content, ...part }) => ({
    ...part,
    content: Buffer.from(content).toString(),
  }));
const part = (head: string, content: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;

test("what the platform itself writes is read", async () => {
  const form = new FormData();
  form.append("title", "Grüße");
  const bytes = new Uint8Array(70_000).map((_, index) => index * 7);
  form.append("file", new File([bytes], 'a "q".pdf', { type: "application/pdf" }));
  form.append("empty", "");
  const request = new Request("http://x/", { method: "POST", body: form });
  const boundary = findBoundary(request.headers.get("content-type") ?? "");
  const parts = parseMultipart(new Uint8Array(await request.arrayBuffer()), boundary ?? "", 3);
  expect(parts.map(({ name, fileName }) => [name, fileName])).toEqual([
    ["title", null],
    ["file", 'a "q".pdf'],
    ["empty", null],
  ]);
  expect(Buffer.from(parts[0]?.content ?? []).toString()).toBe("Grüße");
  expect(parts[1]).toMatchObject({ contentType: "application/pdf", content: Buffer.from(bytes) });
  expect(parts[2]?.content.length).toBe(0);
});

test("preamble, epilogue, padding, quotes and encoded names are read", () => {
  const text = `preamble\r\n--b \t\r\nContent-Type: text/plain\r\ncontent-disposition: FORM-DATA; filename="x"; name=file\r\n\r\n\r\n--c\r\n--b--\r\nepilogue`;
  expect(read(text)).toEqual([{ name: "file", fileName: "x", contentType: "text/plain", content: "\r\n--c" }]);
  const [named] = read(`${part(`name="f"; filename="x.txt"; filename*=UTF-8''gr%C3%BC%C3%9Fe.txt`, "")}--b--`);
  expect(named?.fileName).toBe("grüße.txt");
});

test.each([
  ["", "nothing"],
  ["--b", "no end"],
  ["--b\r\n", "no part"],
  [part('name="a"', "x"), "no closing delimiter"],
  [part('name="a"', "x").slice(0, 30), "half a header"],
  ["--b\r\n\r\nx\r\n--b--", "no disposition"],
  [`${part('filename="a"', "x")}--b--`, "no name"],
  [`--b\r\nX: ${"y".repeat(9_000)}\r\n\r\nx\r\n--b--`, "long headers"],
  [`--b\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--`, "base64"],
  [`${part('name="a"', "x").repeat(5)}--b--`, "many parts"],
])("%# is refused", (text) => {
  expect(() => read(text)).toThrow(MultipartFault);
});

test("a boundary is what RFC 2046 allows", () => {
  expect(findBoundary('multipart/form-data; boundary="a b"; x=y')).toBe("a b");
  expect(findBoundary("multipart/form-data; Boundary=----WebKitFormBoundaryX")).toBe("----WebKitFormBoundaryX");
  for (const text of ["", '; boundary=""', `; boundary=${"x".repeat(71)}`, "; boundary=ä"]) {
    expect(findBoundary(`multipart/form-data${text}`)).toBeNull();
  }
});
