/** Identifies this build: the version from the manifest, all else set by `scripts/build.ts`. */
import { version } from "../../package.json";

declare const COMPANIOND_BUILD:
  | {
      commit: string | null;
      builtAt: string;
      target: string;
      apiStamp: string;
      releasesKey: string | null;
      releasesUrl: string | null;
    }
  | undefined;

const stamp = typeof COMPANIOND_BUILD === "undefined" ? null : COMPANIOND_BUILD;

export const buildInfo = {
  version,
  /** The commit it was built from, with `+` if files differed from it; null when run from source. */
  commit: stamp?.commit ?? null,
  /** RFC 3339 in UTC; null when run from source. */
  builtAt: stamp?.builtAt ?? null,
  /** The platform it was built for, as in `bun run build --target`. */
  target: stamp?.target ?? `${process.platform}-${process.arch}`,
  /** Distinguishes its API document from those of other builds; null when run from source. */
  apiStamp: stamp?.apiStamp ?? null,
  /** The Ed25519 public key of releases, 32 bytes in base64; null for a build that trusts none. */
  releasesKey: stamp?.releasesKey ?? null,
  /** Where its releases are, without a trailing slash; null if the build was given none. */
  releasesUrl: stamp?.releasesUrl ?? null,
} as const;
