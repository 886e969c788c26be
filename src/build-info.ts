/** Identifies this build: the version from the manifest, all else set by `scripts/build.ts`. */
import { version } from "../package.json";

interface Stamp {
  commit: string | null;
  builtAt: string;
  target: string;
  releasesUrl: string | null;
  releasesKey: string | null;
}

declare const COMPANIOND_BUILD: Stamp | undefined;

const stamp = typeof COMPANIOND_BUILD === "undefined" ? null : COMPANIOND_BUILD;

export const buildInfo = {
  version,
  /** The commit it was built from, with `+` if files differed from it; null when run from source. */
  commit: stamp?.commit ?? null,
  /** RFC 3339 in UTC; null when run from source. */
  builtAt: stamp?.builtAt ?? null,
  /** The platform it was built for, as in `bun run build --target`. */
  target: stamp?.target ?? `${process.platform}-${process.arch}`,
  /** Where `latest.json` of its releases is, with a final slash; null if the build was not told. */
  releasesUrl: stamp?.releasesUrl ?? null,
  /** The Ed25519 key that its releases are signed with: 32 bytes in base64; null for builds that are not signed. */
  releasesKey: stamp?.releasesKey ?? null,
} as const;
