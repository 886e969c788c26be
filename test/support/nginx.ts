/** nginx as a child process with a configuration of a test's. */
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { eventually } from "./eventually.ts";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary.ts";

export interface RunningProxy extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string;
  /** Its output, for failing tests. */
  output(): string;
}

/** `http` is what stands in nginx's block of that name; it must listen at the URL. */
export async function runNginx(url: string, http: string, dir = temporaryDirectory()): Promise<RunningProxy> {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${dir.file(name)};`,
  );
  writeFileSync(
    dir.file("nginx.conf"),
    `${process.getuid?.() === 0 ? "user root;" : ""} daemon off; pid ${dir.file("pid")}; error_log stderr warn;
    events { worker_connections 4096; } http { access_log off; ${temporary.join(" ")} ${http} }`,
  );
  return await runProxy(["/usr/sbin/nginx", "-e", "stderr", "-c", dir.file("nginx.conf")], { url, env: {}, dir });
}

/** Resolves when the URL's port accepts connections; the directory is deleted with the proxy. */
export async function runProxy(
  command: string[],
  { url, env, dir }: { url: string; env: Record<string, string>; dir: TemporaryDirectory },
): Promise<RunningProxy> {
  const child = Bun.spawn(command, { env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  let output = "";
  void (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of child.stderr) output += decoder.decode(bytes, { stream: true });
  })();
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${command[0]} ended: ${output}`);
    return await isListening(Number(new URL(url).port));
  });
  return {
    url,
    output: () => output,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
      dir[Symbol.dispose]();
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
