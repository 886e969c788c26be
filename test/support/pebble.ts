/**
 * Pebble, the test authority of Let's Encrypt, as Debian packages it (/usr/bin/pebble). Every name leads to this machine.
 * It dies with the test process.
 */
import { join } from "node:path";
import type { AuthorityFetch } from "../../src/engines/acme/calls.ts";
import { eventually, inTime } from "./eventually.ts";
import { findFreePort } from "./free-port.ts";
import { temporaryDirectory } from "./temporary.ts";

const fixtures = join(import.meta.dir, "../fixtures/tls");

export interface Pebble extends AsyncDisposable {
  /** Over TLS, with the certificate `one` of the fixtures. */
  readonly directory: string;
  /** Trusts it, notes each request, and can answer instead. */
  readonly fetch: AuthorityFetch;
  /** Where it checks names. */
  readonly httpPort: number;
  /** The paths that were asked for through `fetch`. */
  readonly requests: string[];
  /** Answers instead where it returns something. */
  intercept(answer: ((request: Request) => Response | null) | null): void;
  /** Connections are refused until the returned function is called. */
  leave(): () => void;
  /** What `/.well-known/acme-challenge/{token}` of every name answers. */
  answer(find: (token: string) => Promise<string | null>): void;
}

/**
 * `lifeSeconds`: of its certificates. `refusedNonces`: how many of a hundred, at random, as clients must stand it; none for
 * who counts requests.
 */
export async function startPebble({ lifeSeconds = 90 * 86_400, refusedNonces = 5 } = {}): Promise<Pebble> {
  const directory = temporaryDirectory();
  const [port, dnsPort] = [findFreePort(), findFreePort()];
  let find: (token: string) => Promise<string | null> = async () => null;
  const names = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const token = new URL(request.url).pathname.replace("/.well-known/acme-challenge/", "");
      const answer = await find(token);
      return new Response(answer ?? "nobody waits for it", { status: answer === null ? 404 : 200 });
    },
  });
  const config = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: "",
    certificate: join(fixtures, "one.cert.pem"),
    privateKey: join(fixtures, "one.key.pem"),
    httpPort: names.port,
    tlsPort: 1,
    certificateValidityPeriod: lifeSeconds,
  };
  await Bun.write(directory.file("pebble.json"), JSON.stringify({ pebble: config }));
  const dns = run([
    "/usr/bin/pebble-challtestsrv",
    ...[
      "-dns01",
      `127.0.0.1:${dnsPort}`,
      "-defaultIPv4",
      "127.0.0.1",
      "-defaultIPv6",
      "",
      "-management",
      "127.0.0.1:0",
    ],
    ...["-http01", "", "-https01", "", "-tlsalpn01", ""],
  ]);
  const authority = run(
    ["/usr/bin/pebble", "-config", directory.file("pebble.json"), "-dnsserver", `127.0.0.1:${dnsPort}`],
    { PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: String(refusedNonces), PEBBLE_AUTHZREUSE: "0" },
  );
  const requests: string[] = [];
  let intercept: ((request: Request) => Response | null) | null = null;
  let isAway = false;
  const ca = await Bun.file(join(fixtures, "one.cert.pem")).text();
  const ask: AuthorityFetch = (url, init) => {
    const { pathname } = new URL(url);
    requests.push(pathname);
    const answer = intercept?.(new Request(url, { method: init.method ?? "GET" }));
    if (answer) return Promise.resolve(answer);
    // Nothing listens there.
    return fetch(isAway ? "https://127.0.0.1:1/" : url, { ...init, tls: { ca } });
  };
  await eventually(async () => {
    if (authority.exitCode !== null) throw new Error("pebble ended");
    return await ask(`https://127.0.0.1:${port}/dir`, {}).then(
      (response) => response.ok,
      () => false,
    );
  });
  requests.length = 0;

  return {
    directory: `https://127.0.0.1:${port}/dir`,
    fetch: ask,
    httpPort: names.port ?? 0,
    requests,
    intercept: (answer) => {
      intercept = answer;
    },
    leave() {
      isAway = true;
      return () => {
        isAway = false;
      };
    },
    answer: (given) => {
      find = given;
    },
    async [Symbol.asyncDispose]() {
      for (const child of [authority, dns]) child.kill("SIGKILL");
      await names.stop(true);
      await inTime(Promise.all([authority.exited, dns.exited]), { what: "the end of pebble" });
      directory[Symbol.dispose]();
    },
  };
}

function run(command: string[], env: Record<string, string> = {}) {
  const whole = ["/usr/bin/setpriv", "--pdeathsig", "KILL", ...command];
  return Bun.spawn(whole, { env, cwd: "/", stdin: "ignore", stdout: "ignore", stderr: "ignore" });
}
