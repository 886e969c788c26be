/** What a release says about the code of others in it: the bill of materials and the third-party notices. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Validation } from "@cyclonedx/cyclonedx-library";
import manifest from "../../package.json" with { type: "json" };
import { describePackages, findBundledPackages } from "../../scripts/bundled-packages.ts";
import { renderSbom, sbomVersion } from "../../scripts/sbom.ts";
import { renderNotices } from "../../scripts/third-party-notices.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const packages = await findBundledPackages();
const names = packages.map((one) => one.manifest.name);
const builtAt = new Date("2026-11-22T12:00:00Z");

test("all that the server and the browser code use is found, and nothing that only the tool chain uses", () => {
  expect(names).toContainValues([...Object.keys(manifest.dependencies), "preact", "uplot", "uqr", "lucide-preact"]);
  // Compiled into a file of unpdf's.
  expect(packages.find(({ manifest: { name } }) => name === "pdfjs-dist")?.manifest.version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(names).toContainValues(["@elevenlabs/client", "tailwindcss", "@zxcvbn-ts/language-common"]);
  for (const tool of ["typescript", "@biomejs/biome", "terser", "playwright-core", "livekit-client"]) {
    expect(names).not.toContain(tool);
  }
});

test("the notices contain a licence text for every package, and one about the runtime", () => {
  const notices = renderNotices(packages);
  for (const { manifest, licenceTexts } of packages) {
    expect(notices).toContain(`\n${manifest.name} ${manifest.version} (${manifest.license})\n`);
    expect({ name: manifest.name, length: licenceTexts.join("").length > 500 }).toMatchObject({ length: true });
  }
  expect(notices).toContain(`Bun ${Bun.version}, the runtime`);
  expect(notices).toContain("JavaScriptCore");
});

test("the bill of materials is valid CycloneDX, and names the same packages", async () => {
  const sbom = renderSbom(packages, builtAt);
  expect(await new Validation.JsonStrictValidator(sbomVersion).validate(sbom)).toBeNull();
  const { metadata, components, dependencies } = JSON.parse(sbom);
  expect(metadata.component).toMatchObject({ name: "companiond", version: manifest.version });
  const purls = components.map(({ purl }: { purl: string }) => decodeURIComponent(purl));
  const expected = packages.map((one) => `pkg:npm/${one.manifest.name}@${one.manifest.version}`);
  expect(purls.sort()).toEqual([...expected, `pkg:npm/bun@${Bun.version}`].sort());
  for (const { name, licenses } of components) expect({ name, licenses }).toMatchObject({ licenses: [{}] });
  const own = dependencies.find(({ ref }: { ref: string }) => ref === `companiond@${manifest.version}`);
  expect(own.dependsOn).toContain(`elysia@${manifest.dependencies.elysia}`);
  expect(renderSbom(packages, builtAt)).toBe(sbom);
});

/** Makes `node_modules/one` with these files, and describes what its `lib/index.js` belongs to. */
function describeMadeUp(dir: ReturnType<typeof temporaryDirectory>, files: Record<string, string>) {
  const folder = dir.file("node_modules/one");
  const all = { "package.json": JSON.stringify({ name: "one", version: "1.0.0", license: "MIT" }), ...files };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(`${folder}/${name}`), { recursive: true });
    writeFileSync(`${folder}/${name}`, text);
  }
  return describePackages([`${folder}/lib/index.js`]);
}

test("a package without a licence text is refused by name", () => {
  using dir = temporaryDirectory();
  const sentence = "one is in the executable and has no licence text (declared: MIT).";
  expect(() => describeMadeUp(dir, { "lib/index.js": "" })).toThrow(sentence);
});

test("the licences of a package and of what it vendors are both kept", () => {
  using dir = temporaryDirectory();
  const [one] = describeMadeUp(dir, { "lib/index.js": "", "lib/LICENSE": "vendored", "licence.md": "own" });
  expect(one?.licenceTexts).toEqual(["own", "vendored"]);
});

test("a licence that is a section of the readme counts, and a section that only names one does not", () => {
  using dir = temporaryDirectory();
  const terms = "Permission is hereby granted. ".repeat(20).trim();
  const [one] = describeMadeUp(dir, { "lib/index.js": "", "README.md": `# one\n\n## License\n\n${terms}\n` });
  expect(one?.licenceTexts).toEqual([terms]);
  using other = temporaryDirectory();
  const named = { "lib/index.js": "", "README.md": "# one\n\n## License\n\nMIT\n" };
  expect(() => describeMadeUp(other, named)).toThrow("has no licence text");
});
