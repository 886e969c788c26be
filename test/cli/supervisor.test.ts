/** What systemd is told, on real sockets of both kinds, and when the watchdog gets its sign of life. */
import { expect, test } from "bun:test";
import { openNotifySocket } from "../../src/cli/systemd/notify-socket.ts";
import { openSupervisor, supervise } from "../../src/cli/systemd/supervisor.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { eventually } from "../support/eventually.ts";
import { receiveNotifications } from "../support/notify-receiver.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const log = createCapturedLog();
const serving = { describe: () => "Serving,\nas always", check: async () => {} };

test.each(["a path", "an abstract name"])("what the server says arrives at %s, in order", async (kind) => {
  using dir = temporaryDirectory();
  const name = kind === "a path" ? dir.file("notify") : `@${dir.path}`;
  using receiver = receiveNotifications(name);
  const supervisor = await openSupervisor({ notifySocket: name, watchdogMs: null, journalStream: null }, log);
  supervisor.starting();
  supervisor.serving(serving);
  await supervisor.reload(async () => {});
  supervisor.stopping("Stopping, 0 open replies");
  const told = receiver.read().map(({ STATUS, ...others }) => Object.keys(others).join());
  expect(told).toEqual(["EXTEND_TIMEOUT_USEC", "READY", "RELOADING,MONOTONIC_USEC", "READY", "STOPPING"]);
  expect(receiver.read()[1]).toEqual({ READY: "1", STATUS: "Serving, as always" });
});

test("a check that fails is a sign of life", async () => {
  using dir = temporaryDirectory();
  using receiver = receiveNotifications(dir.file("notify"));
  const socket = openNotifySocket(dir.file("notify"));
  if (socket === null) throw new Error("no socket");
  const full = { ...serving, check: () => Promise.reject(new Error("the disk is full")) };
  supervise(socket, { watchdogMs: 2, log, hungAfterMs: 1 }).serving(full);
  const signs = () => receiver.read().filter((message) => message["WATCHDOG"] === "1").length;
  await eventually(() => signs() >= 5);
  expect(log.events).toEqual([]);
});

test("a check that hangs is none, and the log says why", async () => {
  using dir = temporaryDirectory();
  using receiver = receiveNotifications(dir.file("notify"));
  const socket = openNotifySocket(dir.file("notify"));
  if (socket === null) throw new Error("no socket");
  const own = createCapturedLog();
  const hanging = { ...serving, check: () => new Promise<void>(() => {}) };
  supervise(socket, { watchdogMs: 2, log: own, hungAfterMs: 10 }).serving(hanging);
  const complaints = () => own.events.filter(({ event }) => event.startsWith("the store hangs")).length;
  await eventually(() => complaints() >= 1);
  const before = receiver.read().length;
  await eventually(() => complaints() >= 4);
  expect(receiver.read()).toHaveLength(before);
});

test("while systemd does not read, messages wait in order, and signs of life do not pile up", async () => {
  let isReading = false;
  const taken: string[] = [];
  const take = (text: string) => isReading && taken.push(text) > 0;
  const supervisor = supervise({ send: take, nowUs: () => 7n }, { watchdogMs: 2, log });
  supervisor.starting();
  let looks = 0;
  supervisor.serving({ ...serving, check: async () => void looks++ });
  await eventually(() => looks >= 5);
  supervisor.stopping("Stopping");
  isReading = true;
  await eventually(() => taken.length >= 3);
  expect(taken.slice(0, 3).map((text) => text.split("=")[0])).toEqual(["EXTEND_TIMEOUT_USEC", "READY", "STOPPING"]);
});

test("a socket that takes nothing is in the log once, however many signs of life are due", async () => {
  const own = createCapturedLog();
  let isReading = false;
  let tries = 0;
  const send = () => ++tries > 0 && isReading;
  const supervisor = supervise({ send, nowUs: () => 7n }, { watchdogMs: 2, log: own, retryMs: 0 });
  supervisor.serving(serving);
  // Each message is tried 51 times, and then given up.
  await eventually(() => tries > 3 * 51);
  expect(own.events).toMatchObject([{ level: "warn", event: "systemd did not take a message" }]);
  isReading = true;
  const before = tries;
  await eventually(() => tries > before + 2);
  expect(own.events).toHaveLength(1);
});

test("a name that cannot be used is in the log, and the server goes on without", async () => {
  const own = createCapturedLog();
  const supervisor = await openSupervisor({ notifySocket: "vsock:2:1234", watchdogMs: 1, journalStream: null }, own);
  supervisor.starting();
  supervisor.serving(serving);
  expect(own.events).toMatchObject([{ level: "warn", fields: { notifySocket: "vsock:2:1234" } }]);
});
