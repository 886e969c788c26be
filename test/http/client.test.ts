/** Whose request it is: remembered by the socket's address, so no two may be taken for one another. */
import { expect, test } from "bun:test";
import { clientOf } from "../../src/http/client.ts";
import { contextOf, noteContext } from "../../src/http/request-context.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { processLog } from "../../src/lib/log.ts";

function limitSubjectOf(socketIp: string | null, forwardedFor?: string, trustedProxies = 0): string {
  const door = { settings: { trustedProxies }, ids: systemIds, log: processLog() };
  const headers: Record<string, string> = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
  const request = new Request("http://localhost/", { headers });
  noteContext(request, { ...contextOf(request, systemIds), socketIp });
  return clientOf(door, request).limitSubject;
}

test("is identified by the socket's address, even when more come than are remembered", () => {
  // Twice: made in the first round, and where they still are, found in the second.
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 5_000; index++) {
      const address = `198.51.${index >> 8}.${index & 255}`;
      expect(limitSubjectOf(address)).toBe(address);
    }
  }
  expect(limitSubjectOf("2001:db8:1:2::1")).toBe("2001:db8:1:2::/64");
  expect(limitSubjectOf(null)).toBe("unknown");
});

test("is the forwarded one behind a trusted proxy, whose own requests are its own", () => {
  const proxy = "10.0.0.1";
  expect(limitSubjectOf(proxy, undefined, 1)).toBe(proxy);
  expect(limitSubjectOf(proxy, "203.0.113.7", 1)).toBe("203.0.113.7");
  expect(limitSubjectOf(proxy, "203.0.113.8", 1)).toBe("203.0.113.8");
  expect(limitSubjectOf(proxy, undefined, 1)).toBe(proxy);
});
