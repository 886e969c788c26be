/** `companiond update`: replaces the executable with a newer, signed release. */
import { loadReleases } from "../config/config.ts";
import { buildInfo } from "../lib/build-info.ts";
import { ownCommand } from "../lib/own-command.ts";
import { type ActionInput, type ActionResult, CommandFailure, free, Misuse, singleCommand } from "./command.ts";
import { createProgress, type Progress } from "./progress.ts";
import { fetchDocument, fetchExecutable, nameOf } from "./update/fetching.ts";
import { type Release, readRelease, versionPattern } from "./update/release.ts";
import {
  clearLeftovers,
  explainRefusal,
  findCapabilities,
  findPackage,
  identifyRunning,
  incomingPath,
  removeQuietly,
  replaceExecutable,
  requireReplaceable,
  tryOut,
} from "./update/replacing.ts";

export const updateCommand = singleCommand({
  name: "update",
  about:
    "Replace this executable with a newer release, if its signature is good; the old one stays as companiond.previous. " +
    "A running server keeps the old version until it is restarted.",
  data: "none",
  options: {
    check: { about: "Only report whether there is a newer release." },
    version: { value: free("version"), about: "This release instead of the latest one; it must be newer, too." },
  },
  run: update,
});

interface Source {
  url: string;
  key: string;
}

async function update(input: ActionInput): Promise<ActionResult> {
  const { args } = input;
  const wanted = args.find("version");
  if (wanted !== undefined && !versionPattern.test(wanted)) {
    throw new Misuse(`--version must be a version such as 1.2.3, not ${JSON.stringify(wanted)}.`);
  }
  const [executable = "", ...script] = ownCommand();
  if (script.length > 0)
    throw new CommandFailure("This runs from source: update it with git. Only executables update themselves.");
  const release = await findRelease(findSource(input), wanted);
  const { version: current, target } = buildInfo;
  const isNewer = Bun.semver.order(release.version, current) > 0;
  const facts = {
    current,
    target,
    ...(wanted === undefined ? { latest: release.version } : { version: release.version }),
  };
  if (args.has("check")) {
    const text = await describeOffer(release.version, wanted, executable);
    return { json: { ...facts, is_newer: isNewer, updated: false }, text };
  }
  if (!isNewer) throw new CommandFailure(`${explainOld(release.version)} Nothing has changed.`);
  await requireReplaceable(executable);
  const capabilities = await findCapabilities(executable);
  const previous = await install(release, executable, input);
  return {
    json: { ...facts, is_newer: true, updated: true, executable, previous, lost_capabilities: capabilities },
    text: [
      `Updated ${executable} from ${current} to ${release.version}; the old one is ${previous}.`,
      ...(capabilities === null ? [] : [`The new one has no capabilities yet: setcap ${capabilities} ${executable}`]),
      "Restart the server to use it: systemctl restart companiond",
    ].join("\n"),
  };
}

async function describeOffer(version: string, wanted: string | undefined, executable: string): Promise<string> {
  const { version: current } = buildInfo;
  if (Bun.semver.order(version, current) > 0) {
    const command = `companiond update${wanted === undefined ? "" : ` --version ${wanted}`}`;
    const how = (await findPackage(executable)) === null ? command : "its package";
    return `${version} is available; this is ${current}. Install it with ${how}.`;
  }
  return wanted === undefined ? `${current} is up to date: the latest release is ${version}.` : explainOld(version);
}

function explainOld(version: string): string {
  const { version: current } = buildInfo;
  const why = version === current ? "is what this executable is" : `is older than this executable, ${current}`;
  return `${version} ${why}: only newer releases are installed.`;
}

function findSource({ args, io }: ActionInput): Source {
  const releases = loadReleases({ environment: io.environment, envFilePath: args.find("env-file") });
  const key = releases.key ?? buildInfo.releasesKey;
  const url = releases.url ?? buildInfo.releasesUrl;
  if (key === null) {
    throw new CommandFailure(
      "This build has no key for releases, and so trusts none. Set COMPANIOND_RELEASES_KEY, or replace the executable by hand.",
    );
  }
  if (url === null) throw new CommandFailure("Set COMPANIOND_RELEASES_URL to the address of the releases.");
  return { url, key };
}

async function findRelease({ url, key }: Source, wanted: string | undefined): Promise<Release> {
  const source = new URL(`${url}/${wanted ?? "latest"}.json`);
  const text = await fetchDocument(source);
  if (text === null) {
    throw new CommandFailure(
      wanted === undefined
        ? `There is no release at ${source.href}.`
        : `There is no release ${wanted} at ${source.href}.`,
    );
  }
  const release = readRelease(text, { target: buildInfo.target, publicKey: key, source });
  if (wanted !== undefined && release.version !== wanted) {
    throw new CommandFailure(`${source.href} describes ${release.version}. Nothing has changed.`);
  }
  return release;
}

async function install(release: Release, executable: string, { io }: ActionInput): Promise<string> {
  const incoming = incomingPath(executable);
  const remove = () => removeQuietly(incoming);
  // A signal ends the process without the rest of this function.
  process.once("exit", remove);
  const drawn: Progress[] = [];
  try {
    const identity = identifyRunning(executable);
    clearLeftovers(executable);
    const sha256 = await fetchExecutable({
      url: release.url,
      file: incoming,
      onPart(bytes, totalBytes) {
        // The size is known with the first part.
        if (drawn.length === 0 && totalBytes !== null) drawn.push(createProgress(io, totalBytes));
        drawn[0]?.advance(bytes);
      },
    });
    if (sha256 !== release.sha256) {
      throw new CommandFailure(
        `${nameOf(release.url)} is cut or was changed: its SHA-256 is not the signed one. Nothing has changed.`,
      );
    }
    await tryOut(incoming, executable, release.version);
    return replaceExecutable(incoming, executable, identity);
  } catch (error) {
    throw explainRefusal(error, executable) ?? error;
  } finally {
    await drawn[0]?.clear();
    remove();
  }
}
