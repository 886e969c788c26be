/** Where `REDIS_URL` leads, for sentences and logs: never with its user name or password. */

export interface RedisAddress {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

export function addressOf(url: string): RedisAddress {
  const { protocol, hostname, port } = new URL(url);
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? 6379 : Number(port),
    isTls: protocol === "rediss:",
  };
}

/** `host:port`. */
export function nameOf({ host, port }: RedisAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
