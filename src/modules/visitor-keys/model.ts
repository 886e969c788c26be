/** Visitor keys on the wire: never the secret, which only the response to its creation adds. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { JsonObject } from "../../domain/json.ts";
import { type VisitorKeyAlgorithm, visitorKeyAlgorithms } from "../../domain/visitor.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { nameText } from "../../schemas/name.ts";
import { compileChecker, Nullable } from "../../schemas/schema.ts";
import type { PublicJwk } from "../../visitors/key-material.ts";

export const newVisitorKeyBody = compileChecker(() =>
  t.Object(
    {
      name: nameText("What the key is for.", "shop backend"),
      algorithm: t.Union(
        visitorKeyAlgorithms.map((algorithm) => t.Literal(algorithm)),
        {
          description:
            "How the website signs. `HS256`: with a secret that the server makes. `ES256` (P-256) and `EdDSA` (Ed25519): " +
            "with a private key that never leaves the website.",
          examples: ["HS256"],
        },
      ),
      public_jwk: t.Optional(
        Nullable(
          t.Unsafe<JsonObject>(
            t.Object(
              {},
              {
                additionalProperties: true,
                description:
                  "The public key as a JWK; required for `ES256` and `EdDSA`, refused for `HS256`. Only what defines the " +
                  "key is kept; a private key is refused.",
                examples: [{ kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }],
              },
            ),
          ),
        ),
      ),
    },
    { $id: "NewVisitorKey", additionalProperties: false },
  ),
);
export type NewVisitorKeyBody = Static<typeof newVisitorKeyBody.schema>;

export const readOnlyVisitorKeyFields = ["id", "secret", "created_at"] as const;

export interface ShownVisitorKey {
  id: string;
  name: string;
  algorithm: VisitorKeyAlgorithm;
  publicJwk: PublicJwk | null;
  createdAt: number;
}

export function toWireVisitorKey({ id, name, algorithm, publicJwk, createdAt }: ShownVisitorKey) {
  return { id, name, algorithm, public_jwk: publicJwk, created_at: toRfc3339(createdAt) };
}
