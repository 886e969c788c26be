/** The listening sockets of the server: one, or briefly two after a certificate was replaced. */
import type { BunRequest, Server } from "bun";
import { maxUploadBytes } from "../domain/knowledge.ts";
import { idleSeconds } from "../http/heartbeats.ts";
import type { Certificate } from "../lib/certificate.ts";
import { codeOf } from "../lib/error-code.ts";
import { type HeldPort, holdPort } from "./port-placeholder.ts";

export interface ListenerOptions {
  host: string;
  /** 0 takes a free port. */
  port: number;
  /** Null: plain HTTP. `awaited`: HTTPS once there is a certificate; until then every handshake is refused. */
  tls: Certificate | "awaited" | null;
  handle: Handle<Request>;
  /** By path and method, served without `handle`, which gets everything else. */
  direct: Readonly<Record<string, { readonly [Method in "GET" | "POST"]?: Handle<BunRequest<string>> }>>;
}

export type Handle<R extends Request> = (request: R, server: Server<unknown>) => Response | Promise<Response>;

export interface Listener {
  /** As given; but 0.0.0.0 for `::` on a machine without IPv6. */
  readonly host: string;
  readonly port: number;
  /**
   * New connections get the new certificate; running requests continue on the old one. Idle connections are closed, and
   * so is one in its handshake, which clients retry. Throws if it fails, and changes nothing then.
   */
  replaceCertificate(tls: Certificate): void;
  /**
   * Accepts nothing more; resolves when every connection has ended, or the rest have been without a request for a
   * while.
   */
  stop(): Promise<void>;
  /** Closes every connection. */
  cut(): Promise<void>;
}

/** Listening on an address failed; `code` is the system's: EADDRINUSE, EACCES, EADDRNOTAVAIL. */
export class ListenFailure extends Error {
  readonly host: string;
  readonly port: number;
  readonly code: string;

  constructor(host: string, port: number, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "ListenFailure";
    this.host = host;
    this.port = port;
    this.code = codeOf(cause);
  }
}

/**
 * Routes set their own limits, the largest for uploaded files. Up to here they refuse with their own message; beyond,
 * Bun does without one. Unread bytes are not held in memory.
 */
const maxRequestBodyBytes = 3 * maxUploadBytes;
const idleBeforeCutMs = 1_000;
const pollEveryMs = 100;
/**
 * For TLS 1.2: only authenticated ciphers with forward secrecy; the default list ends with plain RSA and CBC. TLS 1.3
 * has no others.
 */
const ciphers = [
  ...["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256"],
  ...["ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384"],
  ...["ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"],
].join(":");
/** On Linux two sockets of one process can share a port, and so hand over without a gap. */
const canShare = process.platform === "linux";

/** Listens by `open` on the address; on all addresses also where the machine has no IPv6. Throws `ListenFailure`. */
export function listenOn<Listening>(host: string, port: number, open: (hostname: string) => Listening): Listening {
  try {
    return open(host);
  } catch (error) {
    const failure = new ListenFailure(host, port, error);
    if (host !== "::" || failure.code === "EADDRINUSE" || failure.code === "EACCES") throw failure;
    try {
      return open("0.0.0.0");
    } catch (second) {
      throw new ListenFailure(host, port, second);
    }
  }
}

/** Throws `ListenFailure`. */
export function openListener(options: ListenerOptions): Listener {
  const { handle, direct } = options;
  const isShared = options.tls !== null && canShare;
  let { host, port } = options;
  let tls = options.tls === "awaited" ? null : options.tls;
  let held: HeldPort | null = null;
  const servers = new Set<Server<unknown>>();

  function listen(reusePort: boolean): Server<unknown> {
    const server = listenOn(host, port, (hostname) => {
      const opened = Bun.serve({
        hostname,
        port,
        ...(tls === null ? {} : { tls: { ...tls, ciphers } }),
        routes: direct,
        fetch: handle,
        maxRequestBodySize: maxRequestBodyBytes,
        idleTimeout: idleSeconds,
        reusePort,
        development: false,
      });
      host = hostname;
      return opened;
    });
    port = server.port ?? port;
    servers.add(server);
    return server;
  }

  function hold(): void {
    held = listenOn(host, port, (hostname) => {
      const opened = holdPort(hostname, port);
      host = hostname;
      return opened;
    });
    port = held.port;
  }

  // A second server on the port must fail loudly, not share the traffic: the first bind never shares.
  let current: Server<unknown> | null = null;
  if (options.tls === "awaited") hold();
  else {
    current = listen(false);
    if (isShared) {
      servers.delete(current);
      void current.stop(true);
      current = listen(true);
    }
  }

  /** Resolves when the server's last connection has ended. */
  function retire(server: Server<unknown>): Promise<void> {
    return server.stop().then(() => void servers.delete(server));
  }

  /** Replaces the current listener, or keeps it and throws. */
  function replace(next: Certificate): void {
    const before = tls;
    const old = current;
    tls = next;
    held?.release();
    try {
      if (!isShared && old !== null) void retire(old);
      current = listen(isShared);
    } catch (error) {
      tls = before;
      if (held !== null) hold();
      else if (!isShared) current = listen(false);
      throw error;
    }
    held = null;
    if (isShared && old !== null) void retire(old);
  }

  return {
    get host() {
      return host;
    },
    get port() {
      return port;
    },
    // `reload` accepts a new certificate silently, but keeps using the old one.
    replaceCertificate: replace,
    async stop() {
      held?.release();
      await Promise.race([Promise.all([...servers].map(retire)), waitUntilIdle(servers)]);
    },
    async cut() {
      held?.release();
      await Promise.all([...servers].map((server) => server.stop(true)));
    },
  };
}

/** Clients keep idle connections, open some ahead of need, or stop in the middle of a request head. */
async function waitUntilIdle(servers: ReadonlySet<Server<unknown>>): Promise<void> {
  let idleMs = 0;
  // Not at the first check: a request may be in transit already.
  while (servers.size > 0 && idleMs < idleBeforeCutMs) {
    await Bun.sleep(pollEveryMs);
    const isIdle = [...servers].every((server) => server.pendingRequests === 0);
    idleMs = isIdle ? idleMs + pollEveryMs : 0;
  }
}
