/** Why a provider gave no reply, or no whole one: private, for the log. */
export class ProviderFailure extends Error {
  /** Whether the same request may succeed a moment later: no connection, a broken one, 429 or 5xx. */
  readonly isTransient: boolean;
  /** How long the provider asked to be left alone; null where it did not say. */
  readonly retryAfterMs: number | null;
  /** Of the provider's answer; null where there was none, or it broke later. */
  readonly status: number | null;

  constructor(
    message: string,
    options: { isTransient?: boolean; retryAfterMs?: number | null; status?: number | null } = {},
  ) {
    super(message);
    this.name = "ProviderFailure";
    this.isTransient = options.isTransient ?? false;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.status = options.status ?? null;
  }
}

export function isTransientStatus(status: number | null | undefined): boolean {
  return status === 429 || (typeof status === "number" && status >= 500);
}
