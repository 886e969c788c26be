/** Loads functions of the system's C library, glibc's or musl's. */
import { dlopen, type FFIFunction, type Library } from "bun:ffi";

const names = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

/** Null where there is no such library, or not all of the functions. */
export function findInC<Functions extends Record<string, FFIFunction>>(
  functions: Functions,
): Library<Functions>["symbols"] | null {
  for (const name of names) {
    try {
      return dlopen(name, functions).symbols;
    } catch {
      // The other C library.
    }
  }
  return null;
}

export { ptr } from "bun:ffi";
