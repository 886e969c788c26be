/** The listening sockets of the server: one, or briefly two after a certificate was replaced. */
import type { BunRequest, Server } from "bun";
import { maxUploadBytes } from "./domain/knowledge.ts";
import { idleSeconds } from "./http/heartbeats.ts";
import type { Certificate } from "./lib/certificate.ts";

export interface ListenerOptions {
  host: string;
  /** 0 takes a free port. */
  port: number;
  tls: Certificate | null;
  handle: Handle<Request>;
  /** By path and method, served without `handle`, which gets everything else. */
  direct: Readonly<Record<string, { readonly [Method in "GET" | "POST"]?: Handle<BunRequest<string>> }>>;
}

export type Handle<R extends Request> = (request: R, server: Server<unknown>) => Response | Promise<Response>;

export interface Listener {
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
    this.code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  }
}

/**
 * Routes set their own limits, the largest for uploaded files. Up to here they say so in their own words; beyond, Bun does
 * without a word. What nobody reads is not held in memory.
 */
const maxRequestBodyBytes = 3 * maxUploadBytes;
const idleBeforeCutMs = 1_000;
const lookEveryMs = 100;
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

/** Throws `ListenFailure`. */
export function openListener(options: ListenerOptions): Listener {
  const { host, handle, direct } = options;
  const isShared = options.tls !== null && canShare;
  let tls = options.tls;

  function listen(port: number, reusePort: boolean): Server<unknown> {
    try {
      return Bun.serve({
        hostname: host,
        port,
        ...(tls === null ? {} : { tls: { ...tls, ciphers } }),
        routes: direct,
        fetch: handle,
        maxRequestBodySize: maxRequestBodyBytes,
        idleTimeout: idleSeconds,
        reusePort,
        development: false,
      });
    } catch (error) {
      throw new ListenFailure(host, port, error);
    }
  }

  // A second server on the port must fail loudly, not share the traffic: the first bind never shares.
  let current = listen(options.port, false);
  const port = current.port ?? options.port;
  if (isShared) {
    void current.stop(true);
    current = listen(port, true);
  }
  const servers = new Set([current]);

  /** Resolves when the server's last connection has ended. */
  function retire(server: Server<unknown>): Promise<void> {
    return server.stop().then(() => void servers.delete(server));
  }

  return {
    port,
    replaceCertificate(next) {
      const before = tls;
      const old = current;
      // `reload` accepts a new certificate silently, but keeps using the old one.
      tls = next;
      try {
        if (!isShared) void retire(old);
        current = listen(port, isShared);
      } catch (error) {
        tls = before;
        if (!isShared) current = listen(port, false);
        servers.add(current);
        throw error;
      }
      servers.add(current);
      if (isShared) void retire(old);
    },
    async stop() {
      await Promise.race([Promise.all([...servers].map(retire)), waitUntilIdle(servers)]);
    },
    async cut() {
      await Promise.all([...servers].map((server) => server.stop(true)));
    },
  };
}

/** Clients keep idle connections, open some ahead of need, or stop in the middle of a request head. */
async function waitUntilIdle(servers: ReadonlySet<Server<unknown>>): Promise<void> {
  let idleMs = 0;
  // Not at the first check: a request may be on its way already.
  while (servers.size > 0 && idleMs < idleBeforeCutMs) {
    await Bun.sleep(lookEveryMs);
    const isIdle = [...servers].every((server) => server.pendingRequests === 0);
    idleMs = isIdle ? idleMs + lookEveryMs : 0;
  }
}
