/** Numbers of the system calls of Linux that a process needs only to compute, and to use the descriptors it has. */

export interface SystemCalls {
  /** `AUDIT_ARCH_…`, by which a filter tells calls of another architecture. */
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
// newfstatat, lseek, pread64, readv, writev, sendto, recvfrom and shutdown for pipes that are pairs of sockets, fcntl, ioctl, dup, pipe2, poll, ppoll, select, pselect6, epoll, eventfd2,
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

/** Null where nobody has written down the numbers. */
export function findSystemCalls(): SystemCalls | null {
  if (process.platform !== "linux") return null;
  return process.arch === "x64" ? x64 : process.arch === "arm64" ? arm64 : null;
}
