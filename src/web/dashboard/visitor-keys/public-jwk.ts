/** Checks a pasted public key here, so that a private one never leaves the browser. */
import type { VisitorKey } from "../lib/types.ts";

type PairAlgorithm = Exclude<VisitorKey["algorithm"], "HS256">;

type Found = { jwk: Record<string, string> } | { problem: string };

const curves: Record<PairAlgorithm, { kty: string; crv: string; members: readonly string[] }> = {
  ES256: { kty: "EC", crv: "P-256", members: ["kty", "crv", "x", "y"] },
  EdDSA: { kty: "OKP", crv: "Ed25519", members: ["kty", "crv", "x"] },
};

/** Members of private and symmetric keys. */
const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/** The members that define the public key, and no others; or what is wrong, as far as it can be told here. */
export function readPublicJwk(text: string, algorithm: PairAlgorithm): Found {
  if (/PRIVATE KEY/.test(text)) return { problem: privateSentence };
  let jwk: Record<string, unknown>;
  try {
    jwk = Object(JSON.parse(text));
  } catch {
    return { problem: "This is no JSON: paste the public key as a JWK, from { to }." };
  }
  if (privateMembers.some((member) => member in jwk)) return { problem: privateSentence };
  const { kty, crv, members } = curves[algorithm];
  if (jwk.kty !== kty || jwk.crv !== crv) {
    return { problem: `For ${algorithm} the key needs "kty": "${kty}" and "crv": "${crv}".` };
  }
  const missing = members.find((member) => typeof jwk[member] !== "string");
  if (missing !== undefined) return { problem: `The key has no "${missing}": it is not whole.` };
  return { jwk: Object.fromEntries(members.map((member) => [member, String(jwk[member])])) };
}

const privateSentence =
  "This is a private key. Nothing was sent: keep it on your server alone, and paste the public half here.";
