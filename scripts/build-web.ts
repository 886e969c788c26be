/**
 * Builds what browsers load into `src/web/generated`: compressed bundles with the hash of their content in the name,
 * `assets.ts`, which makes the executable embed them, and `packages.json`, which names the files of packages in them.
 *
 *   bun scripts/build-web.ts
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import tailwind from "bun-plugin-tailwind";
import { minify } from "terser";
import { hashOf, toAsset, type WebAsset, writeAssets } from "./web-assets.ts";

const root = join(import.meta.dir, "..");
const web = join(root, "src", "web");
/** What this script writes; the executable embeds all of it but `packages.json`. */
export const generatedFolder = join(web, "generated");
/** Files of packages that went into a bundle, relative to the project: their licences go with the executable. */
const packageFiles = new Set<string>();

interface BundleOptions {
  /** Replaced in the source, as JSON. */
  define?: Record<string, unknown>;
  format?: "esm" | "iife";
  /** Code that is shared between entries, or loaded later, goes into separate chunks. */
  splitting?: boolean;
  plugins?: Bun.BunPlugin[];
}

/** Builds, writes and returns everything; rejects with the bundler's messages. */
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
  const challenge = await bundle("challenge.js", "sdk/challenge-solver.ts");
  const [challengeEntry] = challenge;
  const sdk = await bundle("sdk.js", "sdk/index.ts");
  const [sdkEntry] = sdk;
  const sources = await bundle("sources.js", "widget/sources.ts", {
    define: { SOURCES_STYLE: minifyStyle(join(web, "widget", "sources.css")) },
  });
  const [sourcesEntry] = sources;
  const framesStyle = minifyStyle(join(web, "widget", "frames.css"));
  const frames = await bundle("frames.js", "widget/markdown-frames.ts", { define: { FRAMES_STYLE: framesStyle } });
  const [framesEntry] = frames;
  const confirm = await bundle("confirm.js", "widget/confirm.ts", {
    define: { CONFIRM_STYLE: minifyStyle(join(web, "widget", "confirm.css")) },
  });
  const [confirmEntry] = confirm;
  const live = await bundle("live.js", "widget/live.ts", {
    define: { LIVE_STYLE: minifyStyle(join(web, "widget", "live.css")) },
  });
  const [liveEntry] = live;
  const feedback = await bundle("feedback.js", "widget/feedback.ts", {
    define: { FEEDBACK_STYLE: minifyStyle(join(web, "widget", "feedback.css")) },
  });
  const [feedbackEntry] = feedback;
  const home = await bundle("home.js", "widget/home.ts", {
    define: { HOME_STYLE: minifyStyle(join(web, "widget", "home.css")) },
  });
  const [homeEntry] = home;
  const teaser = await bundle("teaser.js", "widget/teaser.ts", {
    define: { TEASER_STYLE: minifyStyle(join(web, "widget", "teaser.css")) },
  });
  const [teaserEntry] = teaser;
  const panel = await bundle("panel.js", "widget/panel.ts", {
    define: {
      PANEL_STYLE: readWidgetTokens(false) + minifyStyle(join(web, "reply.css"), join(web, "widget", "style.css")),
      VOICE_FILE: voiceEntry?.fileName,
      CHALLENGE_FILE: challengeEntry?.fileName,
      CHALLENGE_INTEGRITY: pinOf(challengeEntry),
      SDK_FILE: sdkEntry?.fileName,
      SDK_INTEGRITY: pinOf(sdkEntry),
      CONFIRM_FILE: confirmEntry?.fileName,
      CONFIRM_INTEGRITY: pinOf(confirmEntry),
      LIVE_FILE: liveEntry?.fileName,
      LIVE_INTEGRITY: pinOf(liveEntry),
      FEEDBACK_FILE: feedbackEntry?.fileName,
      FEEDBACK_INTEGRITY: pinOf(feedbackEntry),
      FRAMES_FILE: framesEntry?.fileName,
      FRAMES_INTEGRITY: pinOf(framesEntry),
      HOME_FILE: homeEntry?.fileName,
      HOME_INTEGRITY: pinOf(homeEntry),
      SOURCES_FILE: sourcesEntry?.fileName,
      SOURCES_INTEGRITY: pinOf(sourcesEntry),
    },
  });
  const [panelEntry] = panel;
  const widget = await bundle("widget.js", "widget/index.ts", {
    format: "iife",
    define: {
      LAUNCHER_STYLE: readWidgetTokens(true) + minifyStyle(join(web, "widget", "launcher.css")),
      PANEL_FILE: panelEntry?.fileName,
      PANEL_INTEGRITY: pinOf(panelEntry),
      TEASER_FILE: teaserEntry?.fileName,
      TEASER_INTEGRITY: pinOf(teaserEntry),
      LOCALES: locales.map(({ name }) => name.slice("locale-".length, -".json".length)).join(" "),
      LOCALES_HASH: locales[0]?.fileName.split(".")[1],
    },
  });
  const welcome = await bundle("welcome.js", "page/welcome.ts", { format: "iife" });
  const visitor = await bundle("visitor.js", "page/visitor.ts", { format: "iife" });

  const dashboard = [
    ...(await bundle("dashboard.js", "dashboard/index.tsx", {
      splitting: true,
      define: { REPLY_STYLE: minifyStyle(join(web, "reply.css")), FRAMES_STYLE: framesStyle },
    })),
    ...(await bundle("dashboard.css", "dashboard/style.css", { plugins: [tailwind] })),
  ];

  const images = readdirSync(join(web, "images"))
    .sort()
    .map((file) => toAsset(file, readFileSync(join(web, "images", file))));

  const assets = [
    ...widget,
    ...panel,
    ...sdk,
    ...challenge,
    ...sources,
    ...frames,
    ...confirm,
    ...live,
    ...feedback,
    ...home,
    ...teaser,
    ...welcome,
    ...visitor,
    ...dashboard,
    ...voice,
    ...worklets,
    ...resampler,
    ...locales,
    ...images,
  ];
  writeAssets(assets, generatedFolder);
  writeFileSync(join(generatedFolder, "packages.json"), `${JSON.stringify([...packageFiles].sort(), null, 2)}\n`);
  return assets;
}

/** What the widget holds a file to that it loads later: the shortest hash that browsers take, since no packing shortens it. */
function pinOf(asset: WebAsset | undefined): string | undefined {
  return asset && `sha256-${createHash("sha256").update(asset.bytes).digest("base64")}`;
}

/** One hash for all of them, so that the widget needs to know only one. */
function readLocales(): WebAsset[] {
  const folder = join(web, "widget", "locales");
  const files = readdirSync(folder).sort();
  // Parsed and written again to remove the white space.
  const texts = files.map((file) => JSON.stringify(JSON.parse(readFileSync(join(folder, file), "utf8"))));
  const hash = hashOf(texts.join("\n"));
  return files.map((file, index) => ({
    ...toAsset(`locale-${file}`, texts[index] ?? ""),
    fileName: `locale-${basename(file, ".json")}.${hash}.json`,
  }));
}

/**
 * Voice sessions use signed URLs over a socket: the WebRTC library would be most of the file and never run. The
 * resampler is our own, so that the file contains no third-party address.
 */
const trimVoiceClient: Bun.BunPlugin = {
  name: "trim-voice-client",
  setup(build) {
    // Their sources are inlined as well, for loading from where strict pages forbid it.
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
  const { outputs, metafile } = await Bun.build({
    entrypoints: [join(web, entry)],
    metafile: true,
    target: "browser",
    format,
    splitting,
    plugins,
    minify: true,
    // Chunks refer to each other, so their names must be final during bundling.
    naming: { chunk: "chunk.[hash].[ext]", asset: "[name].[hash].[ext]" },
    publicPath: "/assets/",
    define: {
      "process.env.NODE_ENV": '"production"',
      ...Object.fromEntries(Object.entries(define).map(([key, value]) => [key, JSON.stringify(value)])),
    },
  });
  for (const file of Object.keys(metafile?.inputs ?? {})) if (file.startsWith("node_modules/")) packageFiles.add(file);
  const rank = ({ kind }: Bun.BuildArtifact) => (kind === "entry-point" ? 0 : 1);
  const sorted = outputs.toSorted((a, b) => rank(a) - rank(b));
  return Promise.all(
    sorted.map(async (output, index) => {
      const file = basename(output.path);
      const bytes = await shrink(output, format);
      // The bundler reports a style sheet entry as an asset.
      if (index === 0) return toAsset(name.replace(/\.\w+$/, extname(file)), bytes);
      return { ...toAsset(file, bytes), fileName: file };
    }),
  );
}

/** A second minifier saves another three percent; only what pages load first gains by more than two passes. */
async function shrink(output: Bun.BuildArtifact, format: "esm" | "iife"): Promise<Uint8Array> {
  if (!output.path.endsWith(".js")) return new Uint8Array(await output.arrayBuffer());
  const { code } = await minify(await output.text(), {
    ecma: 2020,
    module: format === "esm",
    compress: {
      passes: format === "iife" ? 4 : 2,
      unsafe: true,
      unsafe_arrows: true,
      hoist_vars: true,
      pure_getters: true,
      keep_fargs: false,
    },
  });
  return new TextEncoder().encode(code ?? "");
}

/** Removes only white space and comments: the bundler would rewrite logical properties for obsolete browsers. */
function minifyStyle(...paths: string[]): string {
  return paths
    .map((path) => readFileSync(path, "utf8"))
    .join("\n")
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

/** The tokens that the widget's styles name, on its root: those of the first load, or those of the rest. */
function readWidgetTokens(isFirst: boolean): string {
  const sheets = [...new Bun.Glob("{widget,voice}/*.css").scanSync(web), "reply.css"];
  const read = (paths: string[]) => paths.map((path) => readFileSync(join(web, path), "utf8")).join("\n");
  const first = read(["widget/launcher.css", "widget/teaser.css"]);
  const rest = read(sheets);
  const tokens = minifyStyle(join(web, "tokens.css")).replace(":root,", "");
  return tokens.replace(/(--[\w-]+):[^;}]+;?/g, (token, name) => {
    const isInFirst = first.includes(`var(${name})`);
    return (isFirst ? isInFirst : !isInFirst && rest.includes(`var(${name})`)) ? token : "";
  });
}

function readPackageFile(path: string): string {
  return readFileSync(join(root, "node_modules", path), "utf8");
}

if (import.meta.main) {
  for (const { name, bytes, gzipBytes, brotliBytes } of await buildWeb()) {
    console.log(`${name}: ${bytes.length} bytes, ${gzipBytes.length} gzip, ${brotliBytes.length} brotli`);
  }
}
