/**
 * Builds what browsers load into `src/web/generated`: bundles with the hash of their content in the name, compressed
 * once and for all, and `assets.ts`, which makes the executable embed them.
 *
 *   bun scripts/build-web.ts
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { brotliCompressSync, gzipSync, constants as zlib } from "node:zlib";
import tailwind from "bun-plugin-tailwind";
import { minify } from "terser";

const root = join(import.meta.dir, "..");
const web = join(root, "src", "web");
const generated = join(web, "generated");

const contentTypes: Record<string, string> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

export interface WebAsset {
  /** Stable: `widget.js`. */
  name: string;
  /** With the hash of the content: `widget.0123456789.js`. */
  fileName: string;
  bytes: Uint8Array;
  gzipBytes: Uint8Array;
  brotliBytes: Uint8Array;
}

interface BundleOptions {
  /** Replaced in the source, as JSON. */
  define?: Record<string, unknown>;
  format?: "esm" | "iife";
  /** Files shared between entries, or loaded later, become chunks of their own. */
  splitting?: boolean;
  plugins?: Bun.BunPlugin[];
}

/** Builds everything, writes it, and returns it; rejects with what the bundler says. */
export async function buildWeb(): Promise<WebAsset[]> {
  const locales = readLocales();
  const worklets = ["rawAudioProcessor", "audioConcatProcessor"].map((name) =>
    toAsset(`voice-${name}.js`, readPackageFile(`@elevenlabs/client/worklets/${name}.js`)),
  );
  const resampler = await bundle("voice-resampler.js", "voice/resampler.ts");
  const voice = await bundle("voice.js", "voice/index.ts", {
    define: {
      VOICE_FILES: [...worklets, ...resampler].map(({ fileName }) => fileName),
      VOICE_STYLE: minifyStyle(join(web, "voice", "style.css")),
    },
    plugins: [trimVoiceClient],
  });
  const [voiceEntry] = voice;
  const panel = await bundle("panel.js", "widget/panel.ts", {
    define: {
      PANEL_STYLE: minifyStyle(join(web, "widget", "style.css")),
      VOICE_FILE: voiceEntry?.fileName,
    },
  });
  const [panelEntry] = panel;
  const widget = await bundle("widget.js", "widget/index.ts", {
    format: "iife",
    define: {
      LAUNCHER_STYLE: minifyStyle(join(web, "widget", "launcher.css")),
      PANEL_FILE: panelEntry?.fileName,
      PANEL_INTEGRITY: panelEntry && integrityOf(panelEntry.bytes),
      LOCALES: locales.map(({ name }) => name.slice("locale-".length, -".json".length)).join(" "),
      LOCALES_HASH: locales[0]?.fileName.split(".")[1],
    },
  });
  const sdk = await bundle("sdk.js", "sdk/index.ts");
  const welcome = await bundle("welcome.js", "page/welcome.ts", { format: "iife" });

  const dashboard = [
    ...(await bundle("dashboard.js", "dashboard/index.tsx", { splitting: true })),
    ...(await bundle("dashboard.css", "dashboard/style.css", { plugins: [tailwind] })),
  ];

  const images = readdirSync(join(web, "images"))
    .sort()
    .map((file) => toAsset(file, readFileSync(join(web, "images", file))));

  const assets = [
    ...widget,
    ...panel,
    ...sdk,
    ...welcome,
    ...dashboard,
    ...voice,
    ...worklets,
    ...resampler,
    ...locales,
    ...images,
  ];
  writeAssets(assets);
  return assets;
}

/** All under one hash, of all of them: the widget then has to know a single one. */
function readLocales(): WebAsset[] {
  const folder = join(web, "widget", "locales");
  const files = readdirSync(folder).sort();
  // Parsed and written again: without the white space of the source.
  const texts = files.map((file) => JSON.stringify(JSON.parse(readFileSync(join(folder, file), "utf8"))));
  const hash = hashOf(texts.join("\n"));
  return files.map((file, index) => ({
    ...toAsset(`locale-${file}`, texts[index] ?? ""),
    fileName: `locale-${basename(file, ".json")}.${hash}.json`,
  }));
}

/**
 * Voice sessions are opened by signed URL, over a socket: the WebRTC library would be most of the file, and never run.
 * The resampler is our own, so that the address of a third party need not even be there.
 */
const trimVoiceClient: Bun.BunPlugin = {
  name: "trim-voice-client",
  setup(build) {
    // Their sources are here once more, to be loaded from where strict pages forbid it.
    build.onLoad({ filter: /Processor\.generated\.js$/ }, ({ path }) => {
      const name = basename(path, ".generated.js");
      const contents = `export const load${name[0]?.toUpperCase()}${name.slice(1)} = (worklet, path) => worklet.addModule(path);`;
      return { contents, loader: "js" };
    });
    build.onLoad({ filter: /addLibsamplerateModule\.js$/ }, () => ({
      contents: "export const addLibsamplerateModule = (context, path) => context.audioWorklet.addModule(path);",
      loader: "js",
    }));
    build.onResolve({ filter: /^livekit-client$/ }, () => ({ path: "livekit-client", namespace: "absent" }));
    build.onLoad({ filter: /.*/, namespace: "absent" }, () => ({
      contents: "export let Room, RoomEvent, Track, ConnectionState, createLocalAudioTrack;",
      loader: "js",
    }));
  },
};

/** The entry first, then its chunks. */
async function bundle(name: string, entry: string, options: BundleOptions = {}): Promise<WebAsset[]> {
  const { define = {}, format = "esm", splitting = false, plugins = [] } = options;
  const { outputs } = await Bun.build({
    entrypoints: [join(web, entry)],
    target: "browser",
    format,
    splitting,
    plugins,
    minify: true,
    // Chunks name one another, so their names must be final while they are bundled.
    naming: { chunk: "chunk.[hash].[ext]", asset: "[name].[hash].[ext]" },
    publicPath: "/assets/",
    define: {
      "process.env.NODE_ENV": '"production"',
      ...Object.fromEntries(Object.entries(define).map(([key, value]) => [key, JSON.stringify(value)])),
    },
  });
  const rank = ({ kind }: Bun.BuildArtifact) => (kind === "entry-point" ? 0 : 1);
  const sorted = outputs.toSorted((a, b) => rank(a) - rank(b));
  return Promise.all(
    sorted.map(async (output, index) => {
      const file = basename(output.path);
      const bytes = await shrink(output, format);
      // A style sheet that is an entry is called an asset.
      if (index === 0) return toAsset(name.replace(/\.\w+$/, extname(file)), bytes);
      return { ...toAsset(file, bytes), fileName: file };
    }),
  );
}

/** A second minifier takes off another three percent. */
async function shrink(output: Bun.BuildArtifact, format: "esm" | "iife"): Promise<Uint8Array> {
  if (!output.path.endsWith(".js")) return new Uint8Array(await output.arrayBuffer());
  const { code } = await minify(await output.text(), {
    ecma: 2020,
    module: format === "esm",
    compress: { passes: 4, unsafe_arrows: true, pure_getters: true, keep_fargs: false },
  });
  return new TextEncoder().encode(code ?? "");
}

/** By white space and comments alone: the bundler would rewrite logical properties for browsers that have long gone. */
function minifyStyle(path: string): string {
  return readFileSync(path, "utf8")
    .replace(/\/\*.*?\*\//gs, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};,>]) ?/g, "$1")
    .replace(/: /g, ":")
    .replace(/;\}/g, "}")
    .replace(/\b0\./g, ".")
    .replace(/ ([!/]) ?/g, "$1")
    .replace(/="(\w+)"/g, "=$1")
    .trim();
}

function toAsset(name: string, content: string | Uint8Array): WebAsset {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const extension = extname(name);
  return {
    name,
    fileName: `${name.slice(0, -extension.length)}.${hashOf(bytes)}${extension}`,
    bytes,
    gzipBytes: gzipSync(bytes, { level: 9 }),
    brotliBytes: brotliCompressSync(bytes, {
      params: { [zlib.BROTLI_PARAM_QUALITY]: 11, [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  };
}

/** As `integrity` attributes have it. */
function integrityOf(bytes: Uint8Array): string {
  return `sha384-${createHash("sha384").update(bytes).digest("base64")}`;
}

function hashOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 10);
}

/**
 * Names change with content, so a file that is there is right, and two builds at once do not disturb one another. The
 * list is last, then what it no longer names goes.
 */
function writeAssets(assets: WebAsset[]): void {
  mkdirSync(generated, { recursive: true });
  const imports: string[] = [];
  const entries: string[] = [];
  const files = new Set(["assets.ts"]);
  for (const [index, asset] of assets.entries()) {
    const contentType = contentTypes[extname(asset.name)];
    if (contentType === undefined) throw new Error(`No content type is known for ${asset.name}.`);
    // An extension of their own: the bundler of the executable must take them as they are.
    for (const [suffix, bytes] of [
      ["", asset.bytes],
      [".br", asset.brotliBytes],
      [".gz", asset.gzipBytes],
    ] as const) {
      const file = `${asset.fileName}${suffix}.embedded`;
      files.add(file);
      writeWhole(join(generated, file), bytes);
      imports.push(`import file${index}${suffix.slice(1)} from "./${file}" with { type: "file" };`);
    }
    entries.push(
      `  { name: "${asset.name}", fileName: "${asset.fileName}", contentType: "${contentType}", integrity: "${integrityOf(asset.bytes)}", plain: file${index}, br: file${index}br, gz: file${index}gz },`,
    );
  }
  const list = `export const embeddedAssets = [\n${entries.join("\n")}\n];\n`;
  const source = `/** Made by scripts/build-web.ts. */\n${imports.join("\n")}\n\n${list}`;
  writeWhole(join(generated, "assets.ts"), new TextEncoder().encode(source));
  for (const file of readdirSync(generated)) {
    if (!files.has(file) && !file.endsWith(".part")) rmSync(join(generated, file), { recursive: true, force: true });
  }
}

/** Nobody ever sees half of the file. */
function writeWhole(path: string, bytes: Uint8Array): void {
  if (existsSync(path) && readFileSync(path).equals(bytes)) return;
  const part = `${path}.${process.pid}.part`;
  writeFileSync(part, bytes);
  renameSync(part, path);
}

function readPackageFile(path: string): string {
  return readFileSync(join(root, "node_modules", path), "utf8");
}

if (import.meta.main) {
  for (const { name, bytes, gzipBytes, brotliBytes } of await buildWeb()) {
    console.log(`${name}: ${bytes.length} bytes, ${gzipBytes.length} gzip, ${brotliBytes.length} brotli`);
  }
}
