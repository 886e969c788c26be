/** The explanation of an address that cannot be listened on, whatever code the system reports. */
import { expect, spyOn, test } from "bun:test";
import os from "node:os";
import { explainListenFailure } from "../../src/cli/listen-failure.ts";

test.each([
  // A name that does not resolve sets no code of its own.
  ["nobody.invalid", "EADDRINUSE", "nobody.invalid is not an address of this machine: the name does not resolve."],
  ["nobody.invalid", "EINVAL", "nobody.invalid is not an address of this machine: the name does not resolve."],
  ["192.0.2.1", "EADDRINUSE", "192.0.2.1 is not an address of this machine."],
  ["2001:db8::1", "EADDRNOTAVAIL", "2001:db8::1 is not an address of this machine."],
  ["127.0.0.1", "EADDRINUSE", "port 80 of 127.0.0.1 is in use by another program."],
  ["localhost", "EADDRINUSE", "port 80 of localhost is in use by another program."],
  ["0.0.0.0", "EACCES", "no permission to listen on port 80."],
  ["::", "EMFILE", "cannot listen on ::, port 80: too many files."],
])("explains %s with %s by what the name resolves to", async (host, code, sentence) => {
  expect((await explainListenFailure({ host, port: 80, code, message: "too many files" })).wrong).toBe(sentence);
});

test("where a sandbox does not list the addresses, the system's code is believed", async () => {
  const problem = { host: "192.0.2.1", port: 80, message: "too many files" };
  using _ = spyOn(os, "networkInterfaces").mockImplementation(() => {
    throw new Error("getifaddrs returned an error");
  });
  const explain = async (code: string) => (await explainListenFailure({ ...problem, code })).wrong;
  expect(await explain("EACCES")).toBe("no permission to listen on port 80.");
  expect(await explain("EADDRNOTAVAIL")).toBe("192.0.2.1 is not an address of this machine.");
});
