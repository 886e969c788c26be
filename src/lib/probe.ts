/** A metric that is maintained elsewhere, read on each scrape. */
export interface Probe {
  /**
   * In Prometheus' form: `companiond_limiter_subjects`, and for a counter with `_total` at its end. Probes with the same
   * name differ in their labels.
   */
  readonly name: string;
  readonly help: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Null if there is currently no value. */
  read(): number | null | Promise<number | null>;
}
