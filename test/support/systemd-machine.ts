/**
 * A machine with systemd as its first process (/usr/lib/systemd/systemd), made of this one: its files with a layer above
 * that takes all changes, its network, and none of its services. Needs root, Linux and what few containers may.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { eventually, inTime } from "./eventually.ts";
import { readLines } from "./line-process.ts";
import { temporaryDirectory } from "./temporary.ts";

export interface SystemdMachine extends AsyncDisposable {
  /** Where a path of the machine is, for this process. */
  file(path: string): string;
  /** Makes a file that everyone there may read, and its folders. */
  write(path: string, content: string | Uint8Array): void;
  /** Runs a command there as root, to its end. */
  run(...command: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  /** The properties that `systemctl show` has of a unit. */
  show(unit: string, ...properties: string[]): Promise<Record<string, string>>;
}

/**
 * Its files are in memory. What the layer would hide of packages is hidden: services, and what else systemd starts.
 * No process is left when the first ends, and none of them outlives the test.
 */
const boot = `
mount -t tmpfs -o mode=755 tmpfs "$1"
mkdir "$1/changes" "$1/work" "$1/root" "$1/groups"
mount -t overlay -o "lowerdir=/,upperdir=$1/changes,workdir=$1/work" overlay "$1/root"
mount -t cgroup2 cgroup2 "$1/groups"
group="$1/groups/$(basename "$1")"
mkdir "$group"
echo $$ >"$group/cgroup.procs"
code=0
setpriv --pdeathsig KILL unshare --pid --fork --kill-child --mount --cgroup --ipc --uts sh -euc '
  cd "$1/root"
  mount -t proc proc proc
  mount -t sysfs -o ro sysfs sys
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount --rbind /dev dev
  if [ -e dev/console ]; then mount --bind /dev/null dev/console; fi
  for path in run tmp etc/systemd usr/lib/systemd/system usr/lib/systemd/system-generators; do
    mkdir -p "$path"
    mount -t tmpfs -o mode=755 tmpfs "$path"
  done
  chmod 1777 tmp
  rm -f usr/sbin/policy-rc.d
  mkdir etc/systemd/system run/outside
  for target in basic sysinit shutdown multi-user; do
    printf "[Unit]\\nDefaultDependencies=no\\nAllowIsolate=yes\\n" >"etc/systemd/system/$target.target"
  done
  read -r pid rest </proc/self/stat
  pivot_root . run/outside
  umount -l run/outside
  mount --make-rshared /
  echo "$pid"
  export container=test
  exec /usr/lib/systemd/systemd --system --unit=multi-user.target --log-target=null --show-status=no
' sh "$1" || code=$?
echo $$ >"$1/groups/cgroup.procs"
find "$group" -depth -type d -exec rmdir {} +
exit $code
`;

/** The reason, as a sentence, where this machine does not allow it. */
export async function bootSystemdMachine(): Promise<SystemdMachine | string> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "only root on Linux can boot a machine";
  // Not below /dev, where tests may have their files in memory: the machine has all of /dev, and would be in itself.
  const folder = temporaryDirectory("/tmp");
  const outside = [
    "/usr/bin/setpriv",
    "--pdeathsig",
    "KILL",
    "/usr/bin/unshare",
    "--mount",
    "--propagation",
    "private",
  ];
  const holder = Bun.spawn([...outside, "/bin/sh", "-euc", boot, "sh", folder.path], {
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const pid = (await readLines(holder.stdout).next()).value;
  if (!pid) {
    const complaints = await holder.stderr.text();
    folder[Symbol.dispose]();
    return `this machine cannot hold another: ${complaints.trim()}`;
  }
  const file = (path: string) => join(`/proc/${pid}/root`, path);
  const enter = ["/usr/bin/nsenter", "--target", pid, "--mount", "--pid", "--ipc", "--uts", "--cgroup"];

  async function run(...command: string[]) {
    const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C.UTF-8", DEBIAN_FRONTEND: "noninteractive" };
    const child = Bun.spawn([...enter, ...command], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { exitCode: await child.exited, stdout, stderr };
  }

  await using undo = new AsyncDisposableStack();
  undo.defer(async () => {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended.
    }
    await inTime(holder.exited, { what: "the end of the machine" });
    folder[Symbol.dispose]();
  });
  await eventually(async () => {
    if (holder.exitCode !== null) throw new Error("systemd ended");
    return (await run("systemctl", "is-active", "multi-user.target")).exitCode === 0;
  });
  const stack = undo.move();
  return {
    file,
    write(path, content) {
      mkdirSync(dirname(file(path)), { recursive: true });
      writeFileSync(file(path), content);
    },
    run,
    async show(unit, ...properties) {
      const { stdout } = await run("systemctl", "show", unit, "--property", properties.join());
      return Object.fromEntries(stdout.split("\n").map((line) => line.split(/=(.*)/s).slice(0, 2)));
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
