/**
 * Renders the guides as pages that need no script, and compresses them, for the executable to embed: they are read when
 * somebody asks for one.
 *
 *   bun scripts/build-guides.ts
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { brotliCompressSync, constants as zlib } from "node:zlib";
import { type DocsEntry, type DocsLink, framePage } from "../src/api/docs/frame.ts";
import { guidesHref } from "../src/api/docs/navigation.ts";
import { escapeHtml } from "../src/http/html.ts";
import { anchorOf, type GuideFile, guideFiles, hrefOf, readText, root, sampleFiles } from "./guide-files.ts";
import { hashOf, writeWhole } from "./web-assets.ts";

const folder = join(root, "src", "web", "generated", "guides");

export interface GuidePage {
  /** Empty: the list of all. */
  name: string;
  html: string;
}

export function renderGuides(): GuidePage[] {
  const rendered = guideFiles.map((file) => ({ file, ...renderGuide(file) }));
  const entries: DocsEntry[] = [
    { href: guidesHref, text: "All guides", parts: [] },
    { href: "/docs", text: "API reference", parts: [] },
    ...rendered.map(({ file, title, parts }) => ({ href: hrefTo(file), text: title, parts, group: file.group })),
  ];
  const list = framePage({ title: "Guides", href: guidesHref, entries, body: renderList(entries) });
  return [
    { name: "", html: list },
    ...rendered.map(({ file, title, parts, body }) => {
      const framed = { title, href: hrefTo(file), entries, body: withContents(body, parts) };
      return { name: file.name, html: framePage(framed) };
    }),
  ];
}

const hrefTo = ({ name }: GuideFile) => `${guidesHref}/${name}`;

function renderGuide({ name, path }: GuideFile): { title: string; parts: DocsLink[]; body: string } {
  const markdown = readText(path);
  const title = titleOf(name);
  const body = `${renderMarkdown(markdown, path)}${renderSamples(name)}`;
  const parts = [...body.matchAll(/<h2 id="([^"]+)">(?:<a href="[^"]*">)?(.*?)(?:<\/a>)?<\/h2>/g)].map(
    ([, id = "", text = ""]) => ({ href: `#${id}`, text: toText(text) }),
  );
  return { title, parts, body };
}

/** Text of owners and models is never rendered here, only our own; HTML in it is shown, not used. */
function renderMarkdown(markdown: string, path: string): string {
  const options = { headings: { ids: true, autolink: true }, noHtmlBlocks: true, noHtmlSpans: true };
  const html = Bun.markdown.html(markdown, options);
  return (
    new HTMLRewriter()
      .on("a[href]", {
        element(link) {
          const target = link.getAttribute("href") ?? "";
          if (/^[a-z]+:/.test(target)) return;
          if (target.startsWith("#")) return;
          const href = hrefOf(path, target);
          if (href === null) link.removeAndKeepContent();
          else link.setAttribute("href", href);
        },
      })
      .on("pre", { element: (block) => void block.setAttribute("tabindex", "0") })
      .on("table", {
        element(table) {
          table.before('<div class="table" tabindex="0">', { html: true });
          table.after("</div>", { html: true });
        },
      })
      .transform(html)
      // Markdown has no tables without headings: empty ones head nothing.
      .replace(/<th[^>]*><\/th>/g, "<td></td>")
      .replace(/<thead>\s*<tr>(?:<td><\/td>)+<\/tr>\s*<\/thead>/g, "")
      .replace(fileNameLinks, (_, link: string, name: string) => `${link}${escapeHtml(titleOf(name))}</a>`)
  );
}

/** Links whose text is the name of a guide's file. */
const fileNameLinks = /(<a href="\/docs\/guides\/([\w-]+)[^"]*">)(?:<code>)?(?:docs\/)?[\w-]+\.md(?:<\/code>)?<\/a>/gi;

function titleOf(name: string): string {
  const file = guideFiles.find((guide) => guide.name === name);
  return (file && /^# (.+)$/m.exec(readText(file.path))?.[1]) ?? name;
}

/** What a guide links to in the repository, so that its readers need no clone. */
function renderSamples(name: string): string {
  if (name === "settings") return renderFile(".env.example", "env-example");
  if (name !== "deploy" && name !== "examples") return "";
  const inFolders = Map.groupBy(sampleFiles[name], (path) => dirname(path).slice(name.length + 1));
  const sections = [...inFolders].flatMap(([within, paths]) => {
    const files = paths.filter((path) => basename(path) !== "README.md");
    if (within === "") return files.map((path) => renderFile(path, anchorOf(basename(path))));
    const page = paths.find((path) => basename(path) === "README.md");
    const words = page === undefined ? "" : renderMarkdown(readText(page).replace(/^# .*$/m, ""), page);
    const shown = files.map((path) => renderFile(path, anchorOf(path.slice(name.length + 1)), "h3"));
    return [`<h2 id="${anchorOf(within)}">${escapeHtml(within)}</h2>\n${words}${shown.join("")}`];
  });
  return sections.join("\n");
}

function renderFile(path: string, id: string, heading = "h2"): string {
  const name = `<code>${escapeHtml(basename(path))}</code>`;
  return `<${heading} id="${id}">${name}</${heading}>\n<pre tabindex="0">${escapeHtml(readText(path))}</pre>\n`;
}

/** For narrow screens, where the list beside the page is not shown. */
function withContents(body: string, parts: readonly DocsLink[]): string {
  if (parts.length < 2) return `<article class="guide">${body}</article>`;
  const items = parts.map(({ href, text }) => `<li><a href="${href}">${renderCode(text)}</a></li>`).join("");
  const contents = `<details class="contents"><summary>On this page</summary><ul>${items}</ul></details>`;
  return `<article class="guide">${body.replace("</h1>", `</h1>\n${contents}`)}</article>`;
}

function renderList(entries: readonly DocsEntry[]): string {
  const groups = Map.groupBy(entries, ({ group }) => group);
  const lists = [...groups]
    .filter(([group]) => group !== undefined)
    .map(([group, members]) => {
      const items = members.map(({ href, text }) => `<li><a href="${href}">${renderCode(text)}</a></li>`);
      return `<section><h2>${group}</h2>\n<ul class="index">${items.join("\n")}</ul></section>`;
    });
  return `<h1>Guides</h1>\n<p>What this server does, and how: from the first companion to an installation that runs for years. Every call of the API is
in the <a href="/docs">reference</a>.</p>\n${lists.join("\n")}`;
}

/** A heading's HTML as the text that the frame renders. */
function toText(html: string): string {
  const plain = html.replace(/<\/?code>/g, "`").replace(/<[^>]+>/g, "");
  return plain.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => unescaped[name] ?? "");
}

const unescaped: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };

function renderCode(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

/** Together: what they share, above all the frame, is then stored once. */
export function writeGuides(): void {
  mkdirSync(folder, { recursive: true });
  const pages = renderGuides().map(({ name, html }) => ({ name, bytes: Buffer.from(html) }));
  let end = 0;
  const entries = pages.map(({ name, bytes }) => {
    const start = end;
    end += bytes.length;
    return `  { name: "${name}", hash: "${hashOf(bytes)}", start: ${start}, end: ${end} },`;
  });
  const params = {
    [zlib.BROTLI_PARAM_QUALITY]: 11,
    [zlib.BROTLI_PARAM_LGWIN]: 22,
    [zlib.BROTLI_PARAM_SIZE_HINT]: end,
  };
  const file = "guides.html.br.embedded";
  writeWhole(join(folder, file), brotliCompressSync(Buffer.concat(pages.map(({ bytes }) => bytes)), { params }));
  const source = [
    "/** Made by scripts/build-guides.ts. */",
    `import guidesFile from "./${file}" with { type: "file" };`,
    "",
    `export { guidesFile };\nexport const embeddedGuides = [\n${entries.join("\n")}\n];\n`,
  ].join("\n");
  writeWhole(join(folder, "index.ts"), Buffer.from(source));
  for (const other of readdirSync(folder)) {
    if (other !== "index.ts" && other !== file && !other.endsWith(".part")) rmSync(join(folder, other));
  }
}

if (import.meta.main) writeGuides();
