/**
 * Takes from this process, for good, what reading a document does not need: new descriptors (so files and network), new
 * processes, and signals to others. By a filter of system calls of Linux (seccomp), which needs no privileges.
 *
 * Not Landlock and namespaces: both leave the threads that run already as they were.
 */
import { readFileSync } from "node:fs";
import { findInC, ptr } from "../../../lib/c-library.ts";

type Call = (number: number, ...operands: (number | bigint)[]) => number;

/** True once it holds, as tried out; false where the kernel does not do it, and then little or nothing has changed. */
export function confineProcess(): boolean {
  try {
    const calls = findSystemCalls();
    const call = findCall();
    return calls !== null && call !== null && applyFilter(calls, call);
  } catch {
    return false;
  }
}

/** `platform`: not written for it; `filter`: a filter that this process runs under refuses another; `kernel`: it has none. */
export type ConfinementObstacle = "platform" | "filter" | "kernel";

/** Whether a process of this one's could confine itself, asked without changing anything; null if nothing prevents it. */
export function findConfinementObstacle(): ConfinementObstacle | null {
  const calls = findSystemCalls();
  const call = calls === null ? null : findCall();
  if (calls === null || call === null) return "platform";
  // SECCOMP_GET_ACTION_AVAIL
  if (call(calls.seccomp, 2, 0, ptr(new Uint32Array([refuse]))) === 0) return null;
  return isUnderFilter() ? "filter" : "kernel";
}

function isUnderFilter(): boolean {
  try {
    return /^Seccomp:\s+2$/m.test(readFileSync("/proc/self/status", "utf8"));
  } catch {
    return false;
  }
}

function findCall(): Call | null {
  const word = "i64";
  const args = [word, word, word, word, word, word] as const;
  const found = findInC({ syscall: { args, returns: word } });
  if (found === null) return null;
  return (number, ...operands) => {
    const [a, b, c, d, e] = operands.map(BigInt);
    return Number(found.syscall(BigInt(number), a ?? 0n, b ?? 0n, c ?? 0n, d ?? 0n, e ?? 0n));
  };
}

function applyFilter(calls: SystemCalls, call: Call): boolean {
  // Dies with its parent (PR_SET_PDEATHSIG, SIGKILL), and leaves no memory of documents behind when it crashes.
  call(calls.prctl, 1, 9);
  call(calls.prlimit64, 0, 4, ptr(new BigUint64Array([0n, 0n])), 0);
  // PR_SET_NO_NEW_PRIVS: what lets anyone set a filter.
  if (call(calls.prctl, 38, 1, 0, 0, 0) !== 0) return false;
  const filter = makeFilter(calls);
  const program = new DataView(new ArrayBuffer(16));
  program.setUint16(0, filter.length / 8, true);
  program.setBigUint64(8, BigInt(ptr(filter)), true);
  // SECCOMP_SET_MODE_FILTER with SECCOMP_FILTER_FLAG_TSYNC: for the threads that run already, too.
  if (call(calls.seccomp, 1, 1, ptr(program)) !== 0) return false;
  const root = Buffer.from("/\0");
  const atWorkingDirectory = -100;
  return call(calls.openat, atWorkingDirectory, ptr(root), 0, 0) < 0 && call(calls.socket, 2, 1, 0) < 0;
}

const [load, jumpIfEqual, jumpIfSet, finish] = [0x20, 0x15, 0x45, 0x06];
const allow = 0x7fff0000;
/** With the error that the call then returns: most callers can do without. */
const refuse = 0x00050000;
const notPermitted = refuse | 1;
const notImplemented = refuse | 38;
const killProcess = 0x80000000;
/** Offsets in what the kernel passes to a filter. */
const [numberAt, architectureAt, firstOperandAt, thirdOperandAt] = [0, 4, 16, 32];
const threadFlag = 0x10000;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** A program for the kernel's packet filter: 8 bytes for each instruction. */
function makeFilter(calls: SystemCalls): Uint8Array {
  const program: Instruction[] = [
    [load, 0, 0, architectureAt],
    [jumpIfEqual, 1, 0, calls.architecture],
    [finish, 0, 0, killProcess],
    [load, 0, 0, numberAt],
  ];
  const answer = (number: number, ...then: Instruction[]) =>
    program.push([jumpIfEqual, 0, then.length, number], ...then);
  for (const number of calls.harmless) answer(number, [finish, 0, 0, allow]);
  // Threads, but no processes. The newer call has its flags in memory, out of sight: the C library then takes the older.
  answer(calls.clone3, [finish, 0, 0, notImplemented]);
  answer(
    calls.clone,
    ...([
      [load, 0, 0, firstOperandAt],
      [jumpIfSet, 0, 1, threadFlag],
      [finish, 0, 0, allow],
      [finish, 0, 0, notPermitted],
    ] as const),
  );
  // The collector of garbage stops threads by signals; other processes get none.
  answer(
    calls.tgkill,
    ...([
      [load, 0, 0, firstOperandAt],
      [jumpIfEqual, 0, 1, process.pid],
      [finish, 0, 0, allow],
      [finish, 0, 0, notPermitted],
    ] as const),
  );
  // Limits may be read, not set.
  answer(
    calls.prlimit64,
    ...([
      [load, 0, 0, thirdOperandAt],
      [jumpIfEqual, 0, 1, 0],
      [finish, 0, 0, allow],
      [finish, 0, 0, notPermitted],
    ] as const),
  );
  program.push([finish, 0, 0, notPermitted]);
  return encode(program);
}

function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  for (const [at, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.setUint16(at * 8, code, true);
    bytes.setUint8(at * 8 + 2, ifTrue);
    bytes.setUint8(at * 8 + 3, ifFalse);
    bytes.setUint32(at * 8 + 4, value >>> 0, true);
  }
  return new Uint8Array(bytes.buffer);
}

interface SystemCalls {
  /** `AUDIT_ARCH_…`, by which a filter recognises calls of another architecture. */
  readonly architecture: number;
  readonly seccomp: number;
  readonly prctl: number;
  readonly openat: number;
  readonly socket: number;
  readonly clone: number;
  readonly clone3: number;
  readonly tgkill: number;
  readonly prlimit64: number;
  /** Without the conditions that clone, clone3, tgkill and prlimit64 have. */
  readonly harmless: readonly number[];
}

// From the kernel's tables: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h. In the order:
// memory (mmap, mprotect, munmap, brk, mremap, madvise, mincore, membarrier), descriptors (read, write, close, fstat,
// newfstatat, lseek, pread64, readv, writev, sendto, recvfrom and shutdown for pipes that are socket pairs, fcntl, ioctl, dup, pipe2, poll, ppoll, select, pselect6, epoll, eventfd2,
// timerfd), threads (futex, futex_wake, futex_wait, futex_requeue, set_robust_list, rseq, sched_yield, affinity,
// set_tid_address, restart_syscall), signals (sigaction, sigprocmask, sigreturn, sigaltstack), time, and what a process
// asks of itself (getpid, gettid, getuid …, getrusage, sysinfo, uname, getrandom, getcpu, exit, exit_group).
const x64: SystemCalls = {
  architecture: 0xc000003e,
  seccomp: 317,
  prctl: 157,
  openat: 257,
  socket: 41,
  clone: 56,
  clone3: 435,
  tgkill: 234,
  prlimit64: 302,
  harmless: [
    ...[9, 10, 11, 12, 25, 28, 27, 324],
    ...[
      0, 1, 3, 5, 262, 8, 17, 19, 20, 44, 45, 48, 72, 16, 32, 293, 7, 271, 23, 270, 291, 232, 281, 441, 233, 290, 283,
      286, 287,
    ],
    ...[202, 454, 455, 456, 273, 334, 24, 203, 204, 218, 219],
    ...[13, 14, 15, 131],
    ...[228, 229, 96, 201, 35, 230],
    ...[39, 186, 102, 104, 107, 108, 98, 99, 63, 318, 309, 60, 231],
  ],
};

const arm64: SystemCalls = {
  architecture: 0xc00000b7,
  seccomp: 277,
  prctl: 167,
  openat: 56,
  socket: 198,
  clone: 220,
  clone3: 435,
  tgkill: 131,
  prlimit64: 261,
  harmless: [
    ...[222, 226, 215, 214, 216, 233, 232, 283],
    ...[63, 64, 57, 80, 79, 62, 67, 65, 66, 206, 207, 210, 25, 29, 23, 59, 73, 72, 20, 22, 441, 21, 19, 85, 86, 87],
    ...[98, 454, 455, 456, 99, 293, 124, 122, 123, 96, 128],
    ...[134, 135, 139, 132],
    ...[113, 114, 169, 101, 115],
    ...[172, 178, 174, 175, 176, 177, 165, 179, 160, 278, 168, 93, 94],
  ],
};

/**
 * Numbers of the system calls of Linux that a process needs only to compute, and to use the descriptors it has. Null
 * where the numbers are not listed here.
 */
function findSystemCalls(): SystemCalls | null {
  if (process.platform !== "linux") return null;
  return process.arch === "x64" ? x64 : process.arch === "arm64" ? arm64 : null;
}
