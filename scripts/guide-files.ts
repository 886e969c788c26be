/** The guides that go with the program, as pages and as Markdown: all but what only people who work on it need. */
import { readFileSync } from "node:fs";
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
  ...docs("For site owners", "dashboard", "knowledge", "people", "leads", "widget", "voice", "spending", "challenge"),
  ...docs(
    "For platforms",
    "api",
    "client",
    "companions-as-code",
    "evals",
    "knowledge-api",
    "people-api",
    "live",
    "tools",
    "tools-safety",
    "versions",
    "identity",
    "sdk",
    "mobile",
    "resuming",
    "webhooks",
  ),
  { name: "examples", path: "examples/README.md", group: "For platforms" },
  ...docs(
    "For operators",
    "operators",
    "settings",
    "mail",
    "commands",
    "monitoring",
    "certificates",
    "backups",
    "providers",
  ),
  ...docs("For operators", "scaling", "releases"),
  { name: "deploy", path: "deploy/README.md", group: "For operators" },
  { name: "security", path: "SECURITY.md", group: "For operators" },
  { name: "changelog", path: "CHANGELOG.md", group: "For operators" },
];

const inFolder = (folder: string, ...names: string[]): string[] => names.map((name) => `${folder}/${name}`);

/**
 * Files that guides link to, shown and installed as they are, by the guide that has them. By name: beside them people keep
 * settings and keys of their own.
 */
export const sampleFiles: Readonly<Record<"deploy" | "examples", readonly string[]>> = {
  deploy: [
    ...inFolder("deploy", "Caddyfile", "Dockerfile", "README.md", "companiond.service", "compose.yaml"),
    ...inFolder("deploy", "grafana-dashboard.json", "nginx.conf", "prometheus-rules.yaml"),
    ...inFolder("deploy/cluster", "compose.yaml", "nginx.conf"),
  ],
  examples: [
    "examples/README.md",
    ...inFolder("examples/as-code", ".gitignore", "README.md", "deploy.sh", "pipeline.yml"),
    ...inFolder("examples/as-code/companions", "returns.md", "sales.yaml", "support.md", "support.yaml"),
    ...inFolder("examples/as-code/evals", "support.yaml"),
    ...inFolder("examples/as-code/environments", "production.env", "staging.env"),
    ...inFolder("examples/evals", "README.md", "workflow.yml", "evals/shop.yaml"),
    ...inFolder("examples/evals/companions", "ada.yaml", "shop.md"),
    ...inFolder("examples/generated", "README.md", "package.json", "with-hey-api.ts", "with-openapi-fetch.ts"),
    ...inFolder("examples/inbox", "README.md", "index.html", "package.json", "server.mjs"),
    ...inFolder("examples/page", "README.md", "chat.js", "index.html", "settings.js"),
    ...inFolder("examples/platform", "README.md", "package.json", "platform.mjs"),
    ...inFolder("examples/proxy", "Caddyfile", "README.md"),
    ...inFolder("examples/relay", "README.md", "package.json", "server.mjs"),
    ...inFolder("examples/signed-in", "README.md", "index.html", "page.js", "server.mjs"),
    ...inFolder("examples/webhooks", "README.md", "receiver.mjs", "receiver.py"),
    ...inFolder("examples/tools", "README.md", "server.mjs", "server.py"),
  ],
};

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
