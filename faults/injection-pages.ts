/**
 * What visitors' browsers get for a companion: the same markup and policy whatever its texts are, and the texts
 * unchanged.
 */

export interface PageShapes {
  page: string;
  policy: string;
  avatar: string;
}

export async function readShapes(url: string, token: string): Promise<PageShapes> {
  const page = await fetch(`${url}/c/${token}`);
  const avatar = await fetch(`${url}/avatars/${token}.svg`);
  return {
    policy: withoutToken(page.headers.get("content-security-policy") ?? "", token),
    page: await shapeOf(await page.text()),
    avatar: `${avatar.headers.get("content-security-policy")} ${await shapeOf(await avatar.text())}`,
  };
}

/** Lists differences from the companion of `shapes`, and places that should show `text` but do not. */
export async function listPageFaults(url: string, token: string, text: string, shapes: PageShapes): Promise<string[]> {
  const faults: string[] = [];
  const expect = (what: string, seen: unknown, expected: unknown) => {
    if (seen !== expected) faults.push(`${what}: ${JSON.stringify(seen)} and not ${JSON.stringify(expected)}`);
  };
  const seen = await readShapes(url, token);
  for (const name of ["page", "policy", "avatar"] as const) expect(`the ${name}`, seen[name], shapes[name]);

  const { title, description } = await readTexts(await (await fetch(`${url}/c/${token}`)).text());
  expect("the title", title, text);
  expect("the description", description, text);
  const manifest = await (await fetch(`${url}/c/${token}/manifest.webmanifest`)).json();
  expect("the manifest's name", (manifest as { name: string }).name, text);
  const config = await fetch(`${url}/api/embed/${token}`);
  const { name, greeting, starters } = (await config.json()) as { name: string; greeting: string; starters: string[] };
  expect("the config's name", name, text);
  expect("the config's greeting", greeting, text);
  expect("the config's first starter", starters[0], text);
  expect("the config's type", config.headers.get("content-type"), "application/json");
  for (const [header, value] of config.headers) {
    // Short payloads occur in any text.
    if (text.length > 8 && value.includes(text)) faults.push(`a header: ${header}: ${value}`);
  }
  return faults;
}

/**
 * Checks an image or a website of the owner's choice in the policy: its directives, the single policy, and the markup.
 */
export async function listFrameFaults(url: string, token: string, shapes: PageShapes): Promise<string[]> {
  const { page, policy } = await readShapes(url, token);
  const namesOf = (text: string) => text.split(/;\s*/).map((directive) => directive.split(" ", 1)[0]);
  // Previews of the page only get the size of our own image.
  const withoutPreview = (shape: string) => shape.replaceAll("<meta property content>", "");
  const isSame = Bun.deepEquals(namesOf(policy), namesOf(shapes.policy)) && !/[,'"]/.test(policy.replace(quoted, ""));
  const isSamePage = withoutPreview(page) === withoutPreview(shapes.page);
  return [...(isSamePage ? [] : [`the page: ${page}`]), ...(isSame ? [] : [`the policy: ${policy}`])];
}

/** Values that a policy itself quotes. */
const quoted = /'(?:self|none|script|sha256-[\w+/=]+)'/g;

/** The elements with their attribute names, and the text of scripts and styles. */
async function shapeOf(markup: string): Promise<string> {
  const parts: string[] = [];
  const rewriter = new HTMLRewriter()
    .on("*", {
      element(element) {
        parts.push(`<${element.tagName} ${[...element.attributes].map(([name]) => name).join(" ")}>`);
      },
      comments(comment) {
        parts.push(`<!--${comment.text}-->`);
      },
    })
    .on("script, style", {
      text(piece) {
        parts.push(piece.text);
      },
    });
  await rewriter.transform(new Response(markup)).text();
  return parts.join("");
}

async function readTexts(markup: string): Promise<{ title: string; description: string }> {
  const found = { title: "", description: "" };
  const rewriter = new HTMLRewriter()
    .on("title", {
      text(piece) {
        found.title += piece.text;
      },
    })
    .on('meta[name="description"]', {
      element(element) {
        found.description = element.getAttribute("content") ?? "";
      },
    });
  await rewriter.transform(new Response(markup)).text();
  return { title: decode(found.title), description: decode(found.description) };
}

const entities: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

function decode(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity);
}

function withoutToken(text: string, token: string): string {
  return text.replaceAll(token, "");
}
