/** robots.txt: the examples of RFC 9309, and what sites really write. */
import { expect, test } from "bun:test";
import { parseRobots } from "../../../src/core/knowledge/fetching/robots.ts";

async function allowedOf(text: string, paths: string[]): Promise<string[]> {
  const robots = (await parseRobots(text)) ?? expect.unreachable();
  return paths.filter((path) => robots.isAllowed(path));
}

test("the longest rule decides, and of two as long the one that allows", async () => {
  const text = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c\nDisallow: /same\nAllow: /same";
  expect(await allowedOf(text, ["/", "/a", "/ax", "/a/b", "/a/b/c", "/same", "/robots.txt"])).toEqual([
    "/",
    "/a/b",
    "/same",
    "/robots.txt",
  ]);
});

test("a group of our own takes the place of everyone's, wherever it stands and however often", async () => {
  const text =
    "User-Agent: CompanionD/1.0\nUser-agent: other\nDisallow: /one\n\nuser-agent: *\nDisallow: /\n\nUser-agent: companiond # us\nDisallow: /two\n";
  expect(await allowedOf(text, ["/", "/one", "/two"])).toEqual(["/"]);
  expect(await allowedOf("User-agent: companiond\nDisallow:\nUser-agent: *\nDisallow: /", ["/", "/x"])).toEqual([
    "/",
    "/x",
  ]);
  expect(await allowedOf("User-agent: companiond-pro\nDisallow: /", ["/"])).toEqual(["/"]);
});

test("stars stand for any text, and a dollar sign for the end", async () => {
  const text = "User-agent: *\nDisallow: *.php\nDisallow: /*/private$\nDisallow: /x*y*z\nDisallow: /end$";
  const paths = ["/a.php5", "/a/private", "/a/private/b", "/x1y2z3", "/x1z", "/end", "/ends", "/private"];
  expect(await allowedOf(text, paths)).toEqual(["/a/private/b", "/x1z", "/ends", "/private"]);
});

test("thousands of plain rules decide as a few do, and more with stars than can be tried are followed by nobody", async () => {
  const plain = Array.from({ length: 20_000 }, (_, at) => `Disallow: /shop/${at}/`).join("\n");
  const more = "Allow: /shop/7/x*\nDisallow: /shop/7/xy\nAllow: /shop/8/\nDisallow: /shop/9$\nAllow: /shop/9*";
  const paths = ["/shop/7/", "/shop/7/x", "/shop/7/xyz", "/shop/8/", "/shop/9", "/shop/9/", "/shop/90", "/shop/20000/"];
  expect(await allowedOf(`User-agent: *\n${plain}\n${more}`, paths)).toEqual([
    ...["/shop/7/x", "/shop/7/xyz", "/shop/8/", "/shop/9", "/shop/9/", "/shop/90", "/shop/20000/"],
  ]);
  const rulesWithStars = (count: number, part = "x") =>
    `User-agent: *\n${Array.from({ length: count }, (_, at) => `Disallow: /*${part}${at}/*y`).join("\n")}`;
  expect(await allowedOf(rulesWithStars(500), ["/a/x499/y", "/a/x500/y"])).toEqual(["/a/x500/y"]);
  expect(await parseRobots(rulesWithStars(501))).toBeNull();
  expect(await parseRobots(rulesWithStars(300, "x".repeat(60)))).toBeNull();
  expect(await parseRobots(`${rulesWithStars(9_900)}\nUser-agent: companiond\nDisallow: /x`)).not.toBeNull();
});

test("escapes are compared by what they mean", async () => {
  const text = "User-agent: *\nDisallow: /%7Ejoe\nDisallow: /caf\u00e9\nDisallow: /a%3cd\nDisallow: /q?*id=";
  const paths = ["/~joe", "/caf%C3%A9", "/a%3Cd", "/q?x=1&id=2", "/q?x=1"];
  expect(await allowedOf(text, paths)).toEqual(["/q?x=1"]);
});

test("reads the delay that is asked for, sitemaps outside of groups, and any line end", async () => {
  const text =
    "\uFEFFSitemap: https://site.example/a.xml\rUser-agent: *\r\nCrawl-delay: 2.5\r\nfoo: bar\r\nSITEMAP: /b.xml # b\nDisallow: /x";
  const robots = (await parseRobots(text)) ?? expect.unreachable();
  expect(robots.crawlDelay).toBe(2.5);
  expect(robots.sitemaps).toEqual(["https://site.example/a.xml", "/b.xml"]);
  expect(robots.isAllowed("/x")).toBe(false);
});

test("what is no robots.txt allows everything", async () => {
  const page = "<!doctype html><title>Disallow: /</title>";
  expect(await allowedOf(page, ["/"])).toEqual(["/"]);
  expect(await allowedOf("Disallow: /", ["/"])).toEqual(["/"]);
  expect(await allowedOf("User-agent: other\nDisallow: /", ["/"])).toEqual(["/"]);
});
