/** What is sent to create visitor keys. */
import type { Static } from "@sinclair/typebox";
import { visitorKeyAlgorithms } from "../../domain/visitor.ts";
import { metadataFilter } from "../../http/schemas/metadata-filter.ts";
import { nameText } from "../../http/schemas/name.ts";
import { AnyObject, compileBody, Nullish, OneOf } from "../../http/schemas/schema.ts";

export const newVisitorKeyBody = compileBody("NewVisitorKey", () => ({
  name: nameText("What the key is for.", "shop backend"),
  algorithm: OneOf(visitorKeyAlgorithms, {
    description:
      "How the website signs. `HS256`: with a secret that the server makes. `ES256` (P-256) and `EdDSA` (Ed25519): " +
      "with a private key that never leaves the website.",
    examples: ["HS256"],
  }),
  public_jwk: Nullish(
    AnyObject({
      description:
        "The public key as a JWK; required for `ES256` and `EdDSA`, refused for `HS256`. Only what defines the " +
        "key is kept; a private key is refused.",
      examples: [{ kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }],
    }),
  ),
  metadata: Nullish(
    metadataFilter(
      "The companions whose visitors the key vouches for: those that have all of these values, 1 to 5, at the time " +
        "of a request. Not set: all of the account.",
    ),
  ),
}));
export type NewVisitorKeyBody = Static<typeof newVisitorKeyBody.schema>;
