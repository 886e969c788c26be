/** The format of `--env-file`. */
import { expect, test } from "bun:test";
import { parseEnvFile } from "../../src/config/env-file.ts";

function read(text: string): Record<string, string> {
  const file = parseEnvFile(text);
  expect(file.problems).toEqual([]);
  return Object.fromEntries(file.values);
}

test("reads names and values, and skips blank lines and comments", () => {
  expect(read("# a comment\n\n  # another\nONE=1\nTWO = two words \n")).toEqual({ ONE: "1", TWO: "two words" });
});

test("accepts a byte order mark and Windows line endings", () => {
  expect(read("\uFEFFONE=1\r\nTWO=2\r\n")).toEqual({ ONE: "1", TWO: "2" });
});

test("accepts `export` before the name", () => {
  expect(read("export ONE=1")).toEqual({ ONE: "1" });
});

test("ends a bare value before a comment that follows white space, and nowhere else", () => {
  expect(read("ONE=a # note\nTWO=a#b\nTHREE=# note\nFOUR=a=b")).toEqual({
    ONE: "a",
    TWO: "a#b",
    THREE: "",
    FOUR: "a=b",
  });
});

test("treats single-quoted values literally", () => {
  expect(read(`ONE='a "b" \\n $HOME # c' # note`)).toEqual({ ONE: 'a "b" \\n $HOME # c' });
});

test("understands the escapes within double quotes, and expands nothing", () => {
  expect(read(String.raw`ONE="a \"b\" \\ \n\t $HOME # c"  # note`)).toEqual({ ONE: 'a "b" \\ \n\t $HOME # c' });
});

test("names the line of everything it cannot read, without repeating what may be a secret", () => {
  const file = parseEnvFile('sk-very-secret\nONE=1\nONE=2\nTWO="open\nTHREE=\'open\n=x\n1A=x\nFOUR="a"b');
  expect(file.problems).toEqual([
    "line 1: expected NAME=value.",
    "line 3: ONE is already set on line 2.",
    "line 4: the quotes around the value of TWO do not match.",
    "line 5: the quotes around the value of THREE do not match.",
    "line 6: expected NAME=value.",
    "line 7: expected NAME=value.",
    "line 8: the quotes around the value of FOUR do not match.",
  ]);
});
