/**
 * systemd for the shell lines of the documentation: one service, started by the command, user and rights of its unit,
 * with a socket for its notifications, credentials and a journal.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { inTime } from "./eventually.ts";
import { type NotifyReceiver, receiveNotifications } from "./notify-receiver.ts";

export interface Answer {
  exitCode: number;
  output: string;
}

export interface ServiceMachine {
  /** Where a path of the machine really is. */
  file(path: string): string;
  /** Null if it has none of this name. */
  findUser(name: string): { uid: number; gid: number } | null;
  /** Of the server, beside what its unit sets: ports and providers of the test. */
  readEnvironment(): Readonly<Record<string, string>>;
  /** What comes before its command, and becomes it. */
  readonly enter: readonly string[];
}

export interface MachineService extends AsyncDisposable {
  readonly isRunning: boolean;
  systemctl(words: readonly string[]): Promise<Answer>;
  journalctl(words: readonly string[]): Answer;
}

const priorities: Readonly<Record<string, number>> = { err: 3, warning: 4, info: 6 };
const accepted = { exitCode: 0, output: "" };

export function createMachineService(machine: ServiceMachine): MachineService {
  const journal = machine.file("/run/journal");
  const places = ["/etc/systemd/system", "/usr/lib/systemd/system"];
  let service: Subprocess | null = null;
  let receiver: NotifyReceiver | null = null;
  const isRunning = () => service !== null && service.exitCode === null && service.signalCode === null;

  function readUnit(): (name: string) => string[] {
    const path = places.map((place) => machine.file(`${place}/companiond.service`)).find(existsSync);
    if (path === undefined) throw new Error("there is no unit companiond.service");
    const lines = [...readFileSync(path, "utf8").matchAll(/^(\w+)=(.*)$/gm)];
    return (name) => lines.filter(([, one]) => one === name).map(([, , value = ""]) => value);
  }

  async function start(): Promise<Answer> {
    if (isRunning()) return accepted;
    const unit = readUnit();
    const [user = ""] = unit("User");
    const owner = machine.findUser(user);
    if (owner === null) return { exitCode: 1, output: `there is no user ${user}\n` };
    const credentials = machine.file("/run/credentials");
    const state = machine.file(`/var/lib/${unit("StateDirectory")[0]}`);
    for (const path of [credentials, state]) {
      if (!existsSync(path)) mkdirSync(path, { recursive: true, mode: 0o700 });
      chownSync(path, owner.uid, owner.gid);
    }
    for (const credential of unit("LoadCredential")) {
      const [name = "", path = ""] = credential.split(":");
      const copy = join(credentials, name);
      if (existsSync(copy)) chmodSync(copy, 0o600);
      copyFileSync(machine.file(path), copy);
      chmodSync(copy, 0o400);
      chownSync(copy, owner.uid, owner.gid);
    }
    const words = (unit("ExecStart")[0] ?? "").split(" ");
    const command = words.map((word) => (word.startsWith("/") ? machine.file(word) : word.replace("%d", credentials)));
    receiver?.[Symbol.dispose]();
    rmSync(machine.file("/run/notify"), { force: true });
    receiver = receiveNotifications(machine.file("/run/notify"));
    const output = openSync(journal, "a");
    const { dev, ino } = fstatSync(output, { bigint: true });
    service = Bun.spawn([...machine.enter, ...becomeUser(owner, unit), ...command], {
      cwd: "/",
      env: {
        ...machine.readEnvironment(),
        NOTIFY_SOCKET: machine.file("/run/notify"),
        JOURNAL_STREAM: `${dev}:${ino}`,
      },
      stdin: "ignore",
      stdout: output,
      stderr: output,
    });
    closeSync(output);
    const ended = service.exited.then(() => true);
    if (await Promise.race([receiver.told("READY", "1").then(() => false), ended])) {
      return { exitCode: 1, output: `Job for companiond.service failed.\n${readFileSync(journal, "utf8")}` };
    }
    return accepted;
  }

  async function stop(): Promise<Answer> {
    if (service === null || !isRunning()) return accepted;
    service.kill("SIGTERM");
    const exitCode = await inTime(service.exited, { what: "the end of the service" });
    return exitCode === 0 ? accepted : { exitCode: 1, output: `companiond ended with ${exitCode}\n` };
  }

  function describe(): Answer {
    if (!isRunning()) return { exitCode: 3, output: "     Active: inactive (dead)\n" };
    const status = receiver?.read().findLast((message) => message["STATUS"] !== undefined)?.["STATUS"];
    return { exitCode: 0, output: `     Active: active (running)\n     Status: "${status}"\n` };
  }

  return {
    get isRunning() {
      return isRunning();
    },
    async systemctl(words) {
      const [verb, ...rest] = words;
      if (words.join(" ") === "daemon-reload") return readUnit() && accepted;
      const isNow = verb === "enable" && rest[0] === "--now";
      if (rest.slice(isNow ? 1 : 0).join(" ") !== "companiond") return refuse("systemctl", words);
      if (verb === "start" || isNow) return start();
      if (verb === "stop") return stop();
      if (verb === "status") return describe();
      if (verb !== "restart") return refuse("systemctl", words);
      const stopped = await stop();
      return stopped.exitCode === 0 ? start() : stopped;
    },
    journalctl(words) {
      const given = new Map(words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1] ?? ""] as const] : [])));
      const known = [...given.keys()].every((name) => ["-u", "-p", "-n", "--since"].includes(name));
      const limit = priorities[given.get("-p") ?? "info"];
      if (!known || given.size * 2 !== words.length || given.get("-u") !== "companiond" || limit === undefined) {
        return refuse("journalctl", words);
      }
      const lines = readFileSync(journal, "utf8").split("\n");
      const shown = lines.filter((line) => line !== "" && Number(/^<(\d)>/.exec(line)?.[1] ?? 6) <= limit);
      const printed = shown.length === 0 ? ["-- No entries --"] : shown;
      return { exitCode: 0, output: printed.map((line) => `${line}\n`).join("") };
    },
    async [Symbol.asyncDispose]() {
      if (isRunning()) service?.kill("SIGKILL");
      await service?.exited;
      receiver?.[Symbol.dispose]();
    },
  };
}

/** For a line of which nothing is known: it stops the page. */
export function refuse(program: string, words: readonly string[]): Answer {
  return { exitCode: 64, output: `nobody can try here: ${program} ${words.join(" ")}\n` };
}

/** With the capabilities that the unit leaves, and no others. */
function becomeUser({ uid, gid }: { uid: number; gid: number }, unit: (name: string) => string[]): string[] {
  const toList = (name: string) => {
    const named = unit(name)
      .flatMap((value) => value.split(" "))
      .filter(Boolean);
    return ["-all", ...named.map((one) => `+${one.toLowerCase().replace("cap_", "")}`)].join(",");
  };
  const rights = [`--bounding-set=${toList("CapabilityBoundingSet")}`, `--inh-caps=${toList("AmbientCapabilities")}`];
  const ids = ["--reuid", String(uid), "--regid", String(gid), "--clear-groups", "--no-new-privs"];
  return ["/usr/bin/setpriv", ...ids, ...rights, `--ambient-caps=${toList("AmbientCapabilities")}`];
}
