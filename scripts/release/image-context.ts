/** The context that an image is built from with the executables of the release: `docker build - < FILE`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CompressionLevel, type DebArchitecture, debArchitectures } from "./deb.ts";
import { writeTar } from "./tar.ts";

const dockerfile = join(import.meta.dir, "../../deploy/Dockerfile");

/** `executables` by Docker's name of the architecture, which is Debian's. */
export function writeImageContext(
  executables: ReadonlyMap<DebArchitecture, Uint8Array>,
  builtAt: Date,
  level: CompressionLevel,
): Uint8Array {
  const files = [...executables].map(([architecture, content]) => ({
    path: `companiond-linux-${architecture}`,
    mode: 0o755,
    content,
  }));
  const folders = { data: 0o700 };
  const tar = writeTar([{ path: "Dockerfile", mode: 0o644, content: renderDockerfile() }, ...files], builtAt, {
    folders,
  });
  return Bun.gzipSync(Buffer.from(tar), { level });
}

/** The last stage of the image that is built from source: nothing is compiled, and nothing is run for another machine. */
export function renderDockerfile(): string {
  const text = readFileSync(dockerfile, "utf8");
  const stage = text.slice(text.lastIndexOf("\nFROM ") + 1);
  const replaced = replaceLine(
    replaceLine(stage, /^COPY --from=build .*$/m, [
      "ARG TARGETARCH",
      "COPY --chmod=755 companiond-linux-$TARGETARCH /usr/local/bin/companiond",
    ]),
    /^RUN mkdir -m 700 \/data .*$/m,
    ["COPY --chown=65532:65532 --chmod=700 data /data"],
  );
  const architectures = Object.keys(debArchitectures).map((name) => `linux/${name}`);
  return [
    "# The image of a release, with its executables: docker build -t companiond - < companiond-VERSION-image.tar.gz",
    `# For both architectures: docker buildx build --platform ${architectures.join(",")} …`,
    "",
    replaced,
  ].join("\n");
}

function replaceLine(text: string, line: RegExp, by: readonly string[]): string {
  if (!line.test(text)) throw new Error(`deploy/Dockerfile has no line ${line}.`);
  return text.replace(line, () => by.join("\n"));
}
