/** A server of releases on loopback, and `companiond update` as an operator runs it. */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { executablePath } from "./executable.ts";

const target = `${process.platform}-${process.arch}`;

/** A program that prints its version, as the next executable would. */
export function makeProgram(version: string, before = ""): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`#!/bin/sh\n${before}\necho '{"version":"${version}"}'\n`);
}

interface Offer {
  version?: string;
  body?: Uint8Array<ArrayBuffer>;
  key?: KeyObject;
  /** Changes what is published after it was signed. */
  change?: (offer: Record<string, unknown>) => void;
  page?: string;
}

export type { Offer };

interface UpdateOptions {
  environment?: Record<string, string>;
  /** What runs `update`; by default the executable of the build. */
  program?: readonly string[];
}

export function startReleases() {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  /** By path; a function answers itself. */
  const pages = new Map<string, string | Uint8Array<ArrayBuffer> | (() => Response)>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const page = pages.get(new URL(request.url).pathname);
      if (page === undefined) return new Response("nothing here", { status: 404 });
      return typeof page === "function" ? page() : new Response(page);
    },
  });

  function start(words: readonly string[] = [], { environment, program = [executablePath] }: UpdateOptions = {}) {
    return Bun.spawn([...program, "update", ...words], {
      cwd: "/",
      env: {
        COMPANIOND_RELEASES_URL: server.url.href,
        COMPANIOND_RELEASES_KEY: Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url").toString(
          "base64",
        ),
        ...environment,
      },
      stdout: "pipe",
      stderr: "pipe",
    });
  }

  return {
    pages,
    publish({ version = "99.1.0", body, key = privateKey, change, page = "latest" }: Offer = {}): void {
      const program = body ?? makeProgram(version);
      const sha256 = new Bun.CryptoHasher("sha256").update(program).digest("hex");
      const message = Buffer.from(`companiond\n${version}\n${target}\n${sha256}\n`);
      const signature = sign(null, message, key).toString("base64");
      const offer: Record<string, unknown> = { url: `files/companiond-${version}?pass=secret`, sha256, signature };
      change?.(offer);
      pages.set(`/${page}.json`, JSON.stringify({ version, targets: { [target]: offer } }));
      pages.set(`/files/companiond-${version}`, program);
    },
    start,
    async run(words: readonly string[] = [], options: UpdateOptions = {}) {
      const child = start(words, options);
      const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      return { stdout, stderr, exitCode };
    },
    stop: () => server.stop(true),
  };
}
