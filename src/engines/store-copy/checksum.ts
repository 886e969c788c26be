/** A table's rows as one number, which does not depend on their order: the engines sort some keys differently. */
import type { Row } from "./tables.ts";

export class Checksum {
  rows = 0;
  #sum = 0n;

  add(rows: readonly Row[]): void {
    this.rows += rows.length;
    for (const row of rows) this.#sum = BigInt.asUintN(64, this.#sum + Bun.hash.xxHash64(JSON.stringify(row)));
  }

  /** 16 hexadecimal digits. */
  toString(): string {
    return this.#sum.toString(16).padStart(16, "0");
  }
}
