/**
 * Whether colours can be read on one another (WCAG 2.2, 1.4.3 and 1.4.11), computed from the style sheets for both
 * themes. In the gate the browser shows pages in light alone; here is the dark.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { styleText } from "../../src/api/docs/frame.ts";
import { welcomeStyle } from "../../src/api/pages/welcome-page.ts";
import { plainStyle } from "../../src/http/html.ts";
import { contrast } from "../../src/web/dashboard/lib/color.ts";
import { computeAccent } from "../../src/web/widget/theme.ts";

type Colors = Readonly<Record<string, string>>;

const read = (path: string) => readFileSync(join(import.meta.dir, "../../src", path), "utf8");

/** `#abc` and `rgb(1,2,3)` as `#aabbcc`. */
function normalize(color: string): string {
  const [, channels] = /^rgb\(([\d.,]+)\)$/.exec(color) ?? [];
  if (channels !== undefined) {
    const digits = channels.split(",").map((channel) => Math.round(Number(channel)).toString(16).padStart(2, "0"));
    return `#${digits.join("")}`;
  }
  return color.length === 4 ? color.replace(/[\da-f]/gi, "$&$&") : color;
}

/** The variables of one rule. */
function readVariables(rule: string): Colors {
  const found = [...rule.matchAll(/--([\w-]+): (#[\da-f]{3,6})\b/g)];
  return Object.fromEntries(found.map(([, name = "", color = ""]) => [name, normalize(color)]));
}

/** Pairs that cannot be read, with their contrast. */
function findUnreadable(colors: Colors, pairs: readonly string[], least: number): string[] {
  return pairs
    .map((pair) => {
      const [front = "", back = ""] = pair.split(" on ").map((name) => colors[name]);
      return { pair, ratio: contrast(front, back) };
    })
    .filter(({ ratio }) => !(ratio >= least))
    .map(({ pair, ratio }) => `${pair}: ${ratio.toFixed(2)}`);
}

function pairsOf(fronts: readonly string[], backs: readonly string[]): string[] {
  return fronts.flatMap((front) => backs.map((back) => `${front} on ${back}`));
}

interface Sheet {
  light: Colors;
  dark: Colors;
  /** Which are read on which. */
  text: readonly string[];
  /** Edges of controls, and signs without words. */
  signs: readonly string[];
  /** Says nothing: whoever does not see it misses nothing. */
  ornaments: readonly string[];
}

/** `:root` before and in the query for the dark. */
function readSheet(style: string): Pick<Sheet, "light" | "dark"> {
  const [light = "", dark = ""] = style.split("@media (prefers-color-scheme: dark)");
  const inLight = readVariables(light);
  return { light: inLight, dark: { ...inLight, ...readVariables(dark.slice(0, dark.indexOf("}"))) } };
}

/** What both themes make of colours that are named together, as `--name: light-dark(#light, #dark)`. */
function readThemes(style: string): Pick<Sheet, "light" | "dark"> {
  const found = [...style.matchAll(/--([\w-]+): light-dark\((#\w+), (#\w+)\)/g)];
  const by = (at: number) => Object.fromEntries(found.map((match) => [match[1] ?? "", normalize(match[at] ?? "")]));
  return { light: by(2), dark: by(3) };
}

/** The framework's names: of tokens, or of colours of the dashboard's own. */
function readDashboard(): Pick<Sheet, "light" | "dark"> {
  const tokens = read("web/tokens.css");
  const style = read("web/dashboard/style.css").replace(
    /(--color-[\w-]+): var\(--([\w-]+)\)/g,
    (whole, name, token) => `${name}: ${new RegExp(`--${token}: ([^;]+)`).exec(tokens)?.[1] ?? whole}`,
  );
  return readThemes(style.replaceAll("--color-", "--"));
}

/** The widget has the tokens as they are. */
const readWidget = () => readThemes(read("web/tokens.css"));

const sheets: Record<string, Sheet> = {
  dashboard: {
    ...readDashboard(),
    text: [
      ...pairsOf(["ink", "muted", "accent"], ["ground", "card", "sunken", "tint"]),
      ...pairsOf(["good", "warn", "bad"], ["ground", "card"]),
      ...["good on good-tint", "warn on warn-tint", "bad on bad-tint", "on-accent on accent", "on-bad on bad"],
      ...pairsOf(["ink"], ["good-tint", "warn-tint", "bad-tint"]),
    ],
    signs: pairsOf(["edge"], ["ground", "card"]),
    // Around fields, which have an edge below.
    ornaments: ["line", "strong"],
  },
  widget: {
    ...readWidget(),
    text: [
      ...pairsOf(["text", "muted"], ["surface", "sunken", "ground"]),
      ...["warn on warn-tint", "bad on bad-tint", "bad on surface", "good on surface"],
    ],
    signs: pairsOf(["edge"], ["surface"]),
    ornaments: ["line", "line-strong"],
  },
  reference: {
    ...readSheet(styleText),
    text: [
      ...pairsOf(["text", "soft", "accent"], ["back", "panel", "tint"]),
      ...pairsOf(["get", "post", "patch", "delete"], ["back", "panel"]),
    ],
    signs: pairsOf(["edge"], ["back"]),
    ornaments: ["line"],
  },
  "start page": {
    ...readSheet(welcomeStyle),
    text: [...pairsOf(["text", "muted", "accent"], ["ground", "card"]), "on on accent"],
    signs: pairsOf(["good"], ["ground"]),
    ornaments: ["line"],
  },
  "plain page": {
    ...readSheet(plainStyle),
    text: [...pairsOf(["text", "muted", "accent"], ["ground", "card"]), "on on accent"],
    signs: [],
    ornaments: ["line"],
  },
};

for (const [name, { light, dark, text, signs, ornaments }] of Object.entries(sheets)) {
  test(`all text of the ${name} can be read, and all signs seen, in light and dark`, () => {
    for (const colors of [light, dark]) {
      expect(findUnreadable(colors, text, 4.5)).toEqual([]);
      expect(findUnreadable(colors, signs, 3)).toEqual([]);
    }
  });

  test(`no colour of the ${name} goes unexamined`, () => {
    const examined = new Set([...text, ...signs].flatMap((pair) => pair.split(" on ")));
    expect(Object.keys(light).filter((color) => !examined.has(color))).toEqual([...ornaments]);
    expect(Object.keys(dark)).toEqual(Object.keys(light));
  });
}

test("whatever colour an owner chooses, the widget's text can be read", () => {
  const { light, dark } = readWidget();
  const channels = ["00", "40", "77", "8b", "b0", "d5", "ff"];
  for (const color of channels.flatMap((red) =>
    channels.flatMap((green) => channels.map((blue) => red + green + blue)),
  )) {
    for (const [isDark, surfaces] of [[false, light] as const, [true, dark] as const]) {
      const accent = Object.entries(computeAccent(`#${color}`, isDark)).map(([name, value]) => [
        name,
        normalize(value),
      ]);
      const colors = { ...surfaces, ...Object.fromEntries(accent) };
      expect(findUnreadable(colors, ["on-fill on fill", ...pairsOf(["ink"], ["surface", "sunken"])], 4.5)).toEqual([]);
    }
  }
});
