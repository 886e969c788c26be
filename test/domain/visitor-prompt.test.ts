/** Holds what instructions become when they speak of the visitor. */
import { expect, test } from "bun:test";
import { newCompanionSettings } from "../../src/domain/companion.ts";
import type { VisitorAuth, VisitorClaims } from "../../src/domain/visitor.ts";
import { instructFor } from "../../src/domain/visitor-prompt.ts";

const ada: VisitorClaims = {
  sub: "customer-42",
  name: "Ada",
  email: "ada@shop.example",
  attributes: { plan: "pro", age: 36, isNew: false, none: null, address: { city: "London" }, tags: ["a", "b"] },
};

function instruct(systemPrompt: string, claims: VisitorClaims | null = ada, visitorAuth: VisitorAuth = "optional") {
  return instructFor({ ...newCompanionSettings("x"), systemPrompt, visitorAuth }, claims).systemPrompt;
}

test.each([
  ["You speak to {{visitor.name}} ({{visitor.email}}).", "You speak to Ada (ada@shop.example)."],
  ["{{visitor.attributes.plan}}/{{visitor.attributes.age}}/{{visitor.attributes.isNew}}", "pro/36/false"],
  ["[{{visitor.attributes.none}}{{visitor.attributes.missing}}{{visitor.attributes.plan.deeper}}]", "[]"],
  ["{{visitor.attributes.address.city}} {{visitor.attributes.address}}", 'London {"city":"London"}'],
  ["{{visitor.attributes.tags}}", '["a","b"]'],
  ["{{ visitor.name }} and {{visitor.name }}", "Ada and Ada"],
  ["[{{visitor.sub}}{{visitor.}}{{visitor.Name}}{{visitor.constructor}}{{visitor.__proto__.name}}]", "[]"],
  ["[{{visitor.attributes.constructor.name}}{{visitor.name.length}}{{visitor.attributes.toString}}]", "[]"],
  [
    "{{name}} {{visitors.name}} {{visitor}} {visitor.name} {{visitor.name}",
    "{{name}} {{visitors.name}} {{visitor}} {visitor.name} {{visitor.name}",
  ],
  ["{{{visitor.name}}}", "{Ada}"],
])("%s becomes %s", (prompt, expected) => {
  expect(instruct(prompt)).toBe(expected);
});

test("what is put in is text: it is not expanded again, and means nothing to the replacement", () => {
  const hostile = { ...ada, name: "{{visitor.email}} $& $1 $` $' $$ {{visitor.attributes.plan}}" };
  expect(instruct("<{{visitor.name}}>", hostile)).toBe(`<${hostile.name}>`);
  const halves = { ...ada, name: "{{visitor.", email: "name}}" };
  expect(instruct("{{visitor.name}}{{visitor.email}}", halves)).toBe("{{visitor.name}}");
});

test("an attribute's own name decides, whatever it is", () => {
  const attributes = JSON.parse('{"__proto__":"own","constructor":"too","hasOwnProperty":"and this"}');
  const prompt =
    "{{visitor.attributes.__proto__}} {{visitor.attributes.constructor}} {{visitor.attributes.hasOwnProperty}}";
  expect(instruct(prompt, { ...ada, attributes })).toBe("own too and this");
});

test("a visitor who is not known has nothing to put in", () => {
  expect(instruct("You speak to [{{visitor.name}}{{visitor.attributes.plan}}].", null)).toBe("You speak to [].");
});

test("under off where nobody is known, and without placeholders, the instructions stay as they are written", () => {
  expect(instruct("You speak to {{visitor.name}}.", null, "off")).toBe("You speak to {{visitor.name}}.");
  expect(instruct("You speak to {{visitor.name}}.", ada, "off")).toBe("You speak to Ada.");
  const plain = { ...newCompanionSettings("x"), systemPrompt: "Plain.", visitorAuth: "required" as const };
  expect(instructFor(plain, ada)).toBe(plain);
  expect(instructFor({ ...plain, systemPrompt: null }, ada).systemPrompt).toBeNull();
});

test("no more than 32 KiB are put in, however often something is named", () => {
  const claims = { ...ada, name: "ü".repeat(255), attributes: { long: "x".repeat(2000) } };
  const filled = instruct("{{visitor.attributes.long}}".repeat(1000), claims) ?? "";
  expect(filled).toBe("x".repeat(32_000));
  // What is short enough still fits.
  expect(instruct(`${"{{visitor.attributes.long}}".repeat(17)}{{visitor.name}}`, claims)).toEndWith(
    `xü${"ü".repeat(254)}`,
  );
});

test("long prompts of braces take no time to speak of", () => {
  for (const piece of ["{{visitor.", "{{ ", "{", "{{visitor.name}} "]) {
    expect(instruct(piece.repeat(32_000 / piece.length))).toBeString();
  }
});
