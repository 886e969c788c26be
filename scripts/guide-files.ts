/** The guides that go with the program, as pages and as Markdown: all but what only people who work on it need. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";

export const root = join(import.meta.dir, "..");

export interface GuideFile {
  /** Its last part of the address. */
  name: string;
  /** In the repository. */
  path: string;
  group: string;
}

const docs = (group: string, ...names: string[]): GuideFile[] =>
  names.map((name) => ({ name, path: `docs/${name}.md`, group }));

/** In the order of their list. A test compares it with the folder. */
export const guideFiles: readonly GuideFile[] = [
  ...docs("For site owners", "dashboard", "knowledge", "widget", "voice", "spending", "challenge"),
  ...docs("For platforms", "api", "client", "knowledge-api", "identity", "sdk", "mobile", "resuming"),
  { name: "examples", path: "examples/README.md", group: "For platforms" },
  ...docs("For operators", "operators", "settings", "commands", "monitoring", "certificates", "backups", "providers"),
  ...docs("For operators", "scaling", "releases"),
  { name: "deploy", path: "deploy/README.md", group: "For operators" },
  { name: "security", path: "SECURITY.md", group: "For operators" },
  { name: "changelog", path: "CHANGELOG.md", group: "For operators" },
];

/** Files that guides link to, which are shown and installed as they are, by the guide that has them. */
export const sampleFiles: Readonly<Record<"deploy" | "examples", readonly string[]>> = {
  deploy: [...listFiles("deploy").filter((path) => !/^deploy\/(debian\/|install\.sh|.*\.dockerignore)/.test(path))],
  examples: listFiles("examples"),
};

/** Without pages, and without what running them leaves. */
function listFiles(folder: string): string[] {
  const tracked = Bun.spawnSync(["git", "ls-files", "-z", folder], { cwd: root });
  const paths = tracked.success
    ? tracked.stdout.toString().split("\0")
    : readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`);
  const files = paths.filter((path) => path !== "" && statSync(join(root, path)).isFile());
  return files.filter((path) => !/\/node_modules\/|\/(secrets|certificates)\//.test(path)).sort();
}

export function readText(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** Where a link from one file of the repository to another leads among the pages; null for what is not among them. */
export function hrefOf(from: string, link: string): string | null {
  const [target = "", anchor] = link.split("#", 2);
  const path = target === "" ? from : posix.join(posix.dirname(from), target).replace(/\/$/, "");
  const guide = guideFiles.find((file) => file.path === path || file.path === `${path}/README.md`);
  if (guide !== undefined) return `/docs/guides/${guide.name}${anchor === undefined ? "" : `#${anchor}`}`;
  if (path === ".env.example") return "/docs/guides/settings#env-example";
  const [folder = "", ...rest] = path.split("/");
  const files = folder in sampleFiles ? sampleFiles[folder as keyof typeof sampleFiles] : [];
  const isShown = files.some((file) => file === path || file.startsWith(`${path}/`));
  return isShown ? `/docs/guides/${folder}#${anchorOf(rest.join("/"))}` : null;
}

/** Of a file or folder on its page. */
export function anchorOf(path: string): string {
  return path.replaceAll(/[^\w.-]/g, "-");
}
