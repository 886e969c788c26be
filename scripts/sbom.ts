/** The software bill of materials: what is in the executable, in CycloneDX's JSON form. */
import { Contrib, Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import { PackageURL } from "packageurl-js";
import manifest from "../package.json" with { type: "json" };
import type { BundledPackage, PackageManifest } from "./bundled-packages.ts";

const licenses = new Contrib.License.Factories.LicenseFactory((expression) => {
  if (!/ (?:AND|OR|WITH) /.test(expression)) throw new Error(`${expression} is no expression.`);
});
const references = new Contrib.FromNodePackageJson.Factories.ExternalReferenceFactory();
const components = new Contrib.FromNodePackageJson.Builders.ComponentBuilder(references, licenses);

export const sbomVersion = Spec.Version.v1dot6;

interface Described {
  manifest: PackageManifest;
  component: Models.Component;
}

/** The same packages at the same time make the same bytes. */
export function renderSbom(packages: readonly BundledPackage[], builtAt: Date): string {
  const application = describe(manifest, Enums.ComponentType.Application);
  const libraries = packages.map((one) => ({ manifest: one.manifest, component: describe(one.manifest) }));
  for (const each of [{ manifest, component: application }, ...libraries]) link(each, libraries);

  const runtime = new Models.Component(Enums.ComponentType.Platform, "bun", {
    bomRef: `bun@${Bun.version}`,
    version: Bun.version,
    purl: new PackageURL("npm", undefined, "bun", Bun.version).toString(),
  });
  runtime.licenses.add(licenses.makeFromString("MIT"));
  application.dependencies.add(runtime.bomRef);

  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: application, timestamp: builtAt }) });
  for (const component of [runtime, ...libraries.map((each) => each.component)]) bom.components.add(component);
  const spec = Spec.SpecVersionDict[sbomVersion];
  if (spec === undefined) throw new Error(`The library knows no CycloneDX ${sbomVersion}.`);
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(spec));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

function describe(of: PackageManifest, type = Enums.ComponentType.Library): Models.Component {
  const component = components.makeComponent(of, type);
  if (component === undefined) throw new Error(`${of.name} cannot be described.`);
  component.purl = new PackageURL("npm", component.group, component.name, component.version).toString();
  component.bomRef.value = `${of.name}@${of.version}`;
  return component;
}

/** Dependencies that the bundler left out are no part of the executable. */
function link({ manifest, component }: Described, libraries: readonly Described[]): void {
  const names = Object.keys(manifest.dependencies ?? {});
  for (const library of libraries) {
    if (names.includes(library.manifest.name)) component.dependencies.add(library.component.bomRef);
  }
}
