/** Which addresses of a server make snippets that no website can use. */
import { expect, test } from "bun:test";
import { judgeAddress } from "../../src/web/dashboard/companion/install-guides.ts";

test("a snippet needs https, and an address that leads visitors here", () => {
  for (const host of ["localhost:3000", "chat.localhost", "127.0.0.1:3000", "127.8.9.1", "[::1]:3000"]) {
    expect([judgeAddress(`http://${host}`), judgeAddress(`https://${host}`)]).toEqual(["loopback", "loopback"]);
  }
  for (const host of ["chat.example", "192.168.1.4:3000", "localhost.example", "127.example"]) {
    expect([judgeAddress(`http://${host}`), judgeAddress(`https://${host}`)]).toEqual(["plain", null]);
  }
});
