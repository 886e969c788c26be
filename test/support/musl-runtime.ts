/**
 * What an executable for musl needs beside musl itself: `libstdc++.so.6`, which Debian has only for glibc. Linked here
 * from the parts of Debian's library that the executable uses, against musl's libc.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** From the package `libstdc++-12-pic`, which depends on libgcc. */
const compilerDir = "/usr/lib/gcc/x86_64-linux-gnu/12";
/** From the package `musl`. */
const muslDir = "/usr/lib/x86_64-linux-musl";

/**
 * Symbols that those parts expect from glibc and musl lacks: a flag (0: there may be threads), a faster frame lookup
 * than musl's own (-1: not found; Bun throws no C++ exceptions), and random bytes that nothing here uses.
 */
const glibcNames = `
.data
.globl __libc_single_threaded
__libc_single_threaded: .byte 0
.text
.globl _dl_find_object
_dl_find_object: movl $-1, %eax
ret
.globl arc4random
arc4random: ud2
.section .note.GNU-stack,"",@progbits
`;

/** Writes the library into `dir`, for LD_LIBRARY_PATH; throws if it cannot provide everything the executable needs. */
export function linkMuslRuntime(executable: string, dir: string): void {
  mkdirSync(dir, { recursive: true });
  const inMusl = new Set(run("nm", "-D", "--defined-only", join(muslDir, "libc.so")).match(/\S+$/gm));
  const imported = [...run("nm", "-D", "--undefined-only", executable).matchAll(/ U (\S+)$/gm)];
  // Class tables are copied out of the library, and count as the executable's own.
  const copied = [...run("readelf", "-rW", executable).matchAll(/R_X86_64_COPY +\S+ (\S+)/g)];
  const wanted = [...imported, ...copied].map(([, name = ""]) => name).filter((name) => !inMusl.has(name));
  const assembly = join(dir, "glibc-names.s");
  writeFileSync(assembly, glibcNames);
  run("as", "-o", join(dir, "glibc-names.o"), assembly);
  const archives = ["libstdc++_pic.a", "libgcc_eh.a", "libgcc.a"];
  run(
    ...["ld", "-shared", "-soname", "libstdc++.so.6", "-o", join(dir, "libstdc++.so.6")],
    ...["-z", "defs", "-z", "now", "--gc-sections", "--eh-frame-hdr"],
    ...wanted.map((name) => `--require-defined=${name}`),
    ...[join(compilerDir, "crtbeginS.o"), join(dir, "glibc-names.o")],
    ...archives.map((archive) => join(compilerDir, archive)),
    ...[`-L${muslDir}`, "-l:libc.so", join(compilerDir, "crtendS.o")],
  );
}

/** Whether a process runs on musl rather than glibc, judged by its memory map. */
export function isOnMusl(pid: number): boolean {
  const maps = readFileSync(`/proc/${pid}/maps`, "utf8");
  return /\/(ld-musl-|x86_64-linux-musl\/libc\.so)/.test(maps) && !/\/(libc\.so\.6|ld-linux)/.test(maps);
}

function run(...command: string[]): string {
  const done = Bun.spawnSync(command);
  if (!done.success) throw new Error(`${command[0]}: ${done.stderr.toString().slice(0, 2000)}`);
  return done.stdout.toString();
}
