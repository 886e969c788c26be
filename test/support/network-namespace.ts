/**
 * A network of its own for one process, as another machine has: two lines to this machine, of which one can lose every
 * packet, so that neither end learns the fate of the other. Needs root, and Linux.
 */
import { existsSync } from "node:fs";
import { readLines } from "./line-process.ts";

/** Addresses of both ends; no packet to them leaves the machine. */
export interface Line {
  readonly here: string;
  readonly there: string;
}

export interface NetworkNamespace extends AsyncDisposable {
  /** What to put before a command, so that it runs there. */
  readonly enter: readonly string[];
  /** The line that can be cut. */
  readonly cuttable: Line;
  readonly lasting: Line;
  /** From now on, all packets of the line are lost in both directions. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** Null where this user may not, as in most containers, or has not what it takes. */
export async function openNetworkNamespace(): Promise<NetworkNamespace | null> {
  if (process.getuid?.() !== 0 || !["/usr/bin/unshare", "/usr/sbin/tc"].every(existsSync)) return null;
  // Lives as long as this process, and the network with it.
  const holder = Bun.spawn(["/usr/bin/unshare", "--net", "/bin/sh", "-c", "echo ready; read -r _"], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  const ready = (await readLines(holder.stdout).next()).value;
  if (ready !== "ready") return null;
  const enter = ["/usr/bin/nsenter", `--net=/proc/${holder.pid}/ns/net`];
  // Names of devices have 15 characters at most.
  const nameOf = (line: string) => `cmp${holder.pid}${line}`;
  await using undo = new AsyncDisposableStack();
  undo.defer(async () => {
    holder.stdin.end();
    await holder.exited;
    // They also go with the namespace, but later.
    for (const name of ["one", "two"]) await run(["ip", "link", "delete", nameOf(name)]).catch(() => {});
  });

  async function layLine(name: string, { here, there }: Line): Promise<void> {
    const far = ["peer", "name", name, "netns", String(holder.pid)];
    await run(["ip", "link", "add", nameOf(name), "type", "veth", ...far]);
    await run(["ip", "address", "add", `${here}/30`, "dev", nameOf(name)]);
    await run(["ip", "link", "set", nameOf(name), "up"]);
    await run([...enter, "ip", "address", "add", `${there}/30`, "dev", name]);
    await run([...enter, "ip", "link", "set", name, "up"]);
  }

  const part = holder.pid % 250;
  const cuttable = { here: `10.213.${part}.1`, there: `10.213.${part}.2` };
  const lasting = { here: `10.213.${part}.5`, there: `10.213.${part}.6` };
  const laying = async () => {
    await run([...enter, "ip", "link", "set", "lo", "up"]);
    await layLine("one", cuttable);
    await layLine("two", lasting);
  };
  const isLaid = await laying().then(
    () => true,
    () => false,
  );
  if (!isLaid) return null;
  /** A queue of one byte holds no packet. */
  const queue = ["root", "bfifo", "limit", "1"];
  const stack = undo.move();
  return {
    enter,
    cuttable,
    lasting,
    async cut() {
      await run(["tc", "qdisc", "add", "dev", nameOf("one"), ...queue]);
      await run([...enter, "tc", "qdisc", "add", "dev", "one", ...queue]);
    },
    async mend() {
      await run(["tc", "qdisc", "del", "dev", nameOf("one"), "root"]);
      await run([...enter, "tc", "qdisc", "del", "dev", "one", "root"]);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function run(command: readonly string[]): Promise<void> {
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };
  const child = Bun.spawn([...command], { env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const output = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${output}`);
}
