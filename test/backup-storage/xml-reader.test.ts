/** Documents of S3, and what only looks like one. */
import { expect, test } from "bun:test";
import { findText, readXml } from "../../src/engines/s3/xml-reader.ts";

test("reads elements, their text and their children, whatever stands around and between them", () => {
  const document = readXml(
    '\ufeff<?xml version="1.0"?>\n<!-- <a> --> <s3:List xmlns:s3="http://s3/">\r\n <Key>a &amp; b&#x21;<![CDATA[ <c> ]]></Key>' +
      '<Owner><Key>other</Key></Owner><Empty/><Tag a="1" /><Key>second</Key></s3:List >\n',
  );
  expect(document).toMatchObject({ name: "List", text: "" });
  expect(document?.children.map(({ name }) => name)).toEqual(["Key", "Owner", "Empty", "Tag", "Key"]);
  expect(document && findText(document, "Key")).toBe("a & b! <c>");
  expect(document && findText(document, "Empty")).toBe("");
  expect(document && findText(document, "Other")).toBeNull();
});

const others = [
  "",
  "text",
  "<a>",
  "<a></b>",
  "</a>",
  "<a/><b/>",
  "<a/>text",
  "<a",
  "<a><!-- </a>",
  "<a><![CDATA[ </a>",
  "<a>&own;</a>",
  '<!DOCTYPE a [<!ENTITY own "x">]><a>&own;</a>',
  "<a>".repeat(10) + "</a>".repeat(10),
  `<a>${"<b/>".repeat(100_001)}</a>`,
];

test("anything else is no document", () => {
  expect(others.filter((text) => readXml(text) !== null)).toEqual([]);
});

// Each is read in milliseconds; what looks again and again at the same characters would take hours.
test.each([
  ["tags that never end", "<a ".repeat(2_000_000)],
  ["one tag that never ends", `<a ${" b=".repeat(2_000_000)}`],
  ["a long name", `<${"a".repeat(4_000_000)}`],
  ["comments that never end", "<!--".repeat(1_000_000)],
  ["CDATA that never ends", "<![CDATA[".repeat(500_000)],
  ["closed CDATA before some that never ends", `<a>${"<![CDATA[]]>".repeat(100_000)}<![CDATA[</a>`],
  ["ampersands", `<a>${"&".repeat(4_000_000)}<`],
  ["text", "a".repeat(8_000_000)],
])("passes over %s", (_, text) => {
  expect(readXml(text)).toBeNull();
});
