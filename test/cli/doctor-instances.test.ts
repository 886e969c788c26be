/** What `doctor` says of where instances reach one another. */
import { expect, test } from "bun:test";
import { examineInstanceUrls } from "../../src/cli/doctor/instances.ts";

const server = { host: "10.0.0.11", port: 3000, tls: null, acme: null, trustProxy: 1 };
const config = { server, instanceUrl: null };
const at = (url: string | null) => ({ version: "1.2.0", sharesWindows: true, url });
const [one, other] = ["http://10.0.0.11:3000", "http://10.0.0.12:3000"];

const everywhere = async () => ({});
const nowhere = async () => null;

test("tells where the others reach this one, as set or as it listens", async () => {
  const found = await examineInstanceUrls(config, [], nowhere);
  expect(found).toMatchObject({ status: "ok", detail: `The others reach this one at ${one}.` });
  const set = await examineInstanceUrls({ ...config, instanceUrl: "https://one.internal" }, [], nowhere);
  expect(set.detail).toBe("The others reach this one at https://one.internal.");
  const anyPort = await examineInstanceUrls({ ...config, server: { ...server, port: 0 } }, [], nowhere);
  expect(anyPort.detail).toBe("The others reach this one at the port that it takes.");
});

test("asks every instance at its address", async () => {
  const asked: string[] = [];
  const find = async (url: string) => asked.push(url);
  const found = await examineInstanceUrls(config, [at(one), at(other), at(null)], find);
  expect(asked).toEqual([one, other]);
  expect(found).toMatchObject({ status: "ok", advice: null });
  expect(found.detail).toEndWith("2 of 3 that run have announced theirs, and answer.");
});

test("warns of an instance that does not answer", async () => {
  const find = async (url: string) => (url === one ? {} : null);
  const found = await examineInstanceUrls(config, [at(one), at(other)], find);
  expect(found).toMatchObject({ status: "warn" });
  expect(found.detail).toEndWith(`nothing answers at ${other}.`);
  const onLoopback = await examineInstanceUrls(config, [at("http://127.0.0.1:3000")], nowhere);
  expect(onLoopback.advice).toStartWith("Set COMPANIOND_INSTANCE_URL");
});

test("two instances with one address cannot work, even if it answers", async () => {
  const found = await examineInstanceUrls(config, [at(one), at(one)], everywhere);
  expect(found).toMatchObject({ status: "fail" });
  expect(found.detail).toContain(`Several instances announce the address ${one}.`);
});
