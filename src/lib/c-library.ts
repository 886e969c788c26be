/** Loads functions of the system's C library, glibc's or musl's. */
import type { FFIFunction, Library, Pointer } from "bun:ffi";

const names = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

/** Null where there is no such library, or not all of the functions. */
export function findInC<Functions extends Record<string, FFIFunction>>(
  functions: Functions,
): Library<Functions>["symbols"] | null {
  const { dlopen } = loadFfi();
  for (const name of names) {
    try {
      return dlopen(name, functions).symbols;
    } catch {
      // The other C library.
    }
  }
  return null;
}

/** Valid while the array is referenced. */
export function ptr(memory: NodeJS.TypedArray | DataView): Pointer {
  return loadFfi().ptr(memory);
}

/** Not by an import: few processes call C, and every start would load the compiler of such calls. */
function loadFfi(): typeof import("bun:ffi") {
  return process.getBuiltinModule("bun:ffi") as typeof import("bun:ffi");
}
