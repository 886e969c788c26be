/** robots.txt: the examples of RFC 9309, and what sites really write. */
import { expect, test } from "bun:test";
import { parseRobots } from "../../../src/knowledge/fetching/robots.ts";

async function allowedOf(text: string, paths: string[]): Promise<string[]> {
  const robots = await parseRobots(text);
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

test("escapes are compared by what they mean", async () => {
  const text = "User-agent: *\nDisallow: /%7Ejoe\nDisallow: /caf\u00e9\nDisallow: /a%3cd\nDisallow: /q?*id=";
  const paths = ["/~joe", "/caf%C3%A9", "/a%3Cd", "/q?x=1&id=2", "/q?x=1"];
  expect(await allowedOf(text, paths)).toEqual(["/q?x=1"]);
});

test("reads the delay that is asked for, sitemaps outside of groups, and any line end", async () => {
  const text =
    "\uFEFFSitemap: https://site.example/a.xml\rUser-agent: *\r\nCrawl-delay: 2.5\r\nfoo: bar\r\nSITEMAP: /b.xml # b\nDisallow: /x";
  const robots = await parseRobots(text);
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
