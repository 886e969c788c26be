/** Visitor keys in responses: never the secret, which only the response to the creation adds. */

import { type Static, Type as t } from "@sinclair/typebox";
import type { PublicJwk as Jwk } from "../../core/visitors/key-material.ts";
import type { VisitorKeyAlgorithm, VisitorKeyFilter } from "../../domain/visitor.ts";
import { closedObject, instant, namedObject } from "../../http/schemas/named-object.ts";
import { Nullable } from "../../http/schemas/schema.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { newVisitorKeyBody } from "./model.ts";

const PublicJwk = namedObject("PublicJwk", () => ({
  kty: t.String({ examples: ["OKP"] }),
  crv: t.String({ examples: ["Ed25519"] }),
  x: t.String({ examples: ["11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"] }),
  y: t.Optional(t.String({ description: "For `ES256`.", examples: ["x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"] })),
}));

function makeShownFields() {
  const { name, algorithm, metadata } = newVisitorKeyBody.schema.properties;
  return {
    id: t.String({
      format: "uuid",
      description: "Goes into the `kid` of tokens that are signed with this key.",
      examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"],
    }),
    name,
    algorithm,
    metadata: t.Required(t.Object({ metadata })).properties.metadata,
    public_jwk: Nullable(PublicJwk),
    created_at: instant("When it was created."),
  };
}

export const VisitorKeyObject = closedObject("VisitorKey", makeShownFields);

export const NewVisitorKeyObject = closedObject("NewVisitorKeyAnswer", () => ({
  ...makeShownFields(),
  secret: t.Optional(
    t.String({
      pattern: "^vsk_[0-9A-Za-z_-]{43}$",
      description:
        "For `HS256`: the secret, shown this once; a replay by `Idempotency-Key` comes without it. The whole text, " +
        "`vsk_` included, is the key.",
      examples: ["vsk_b1YtZ0vX3o2f9JrQ7mSxK5cLw8nEhUaPgD6iTqR4yVM"],
    }),
  ),
}));
export type VisitorKey = Static<typeof VisitorKeyObject>;
export type NewVisitorKey = Static<typeof NewVisitorKeyObject>;

export interface ShownVisitorKey {
  id: string;
  name: string;
  algorithm: VisitorKeyAlgorithm;
  metadata: VisitorKeyFilter;
  publicJwk: Jwk | null;
  createdAt: number;
}

export function toWireVisitorKey({ id, name, algorithm, metadata, publicJwk, createdAt }: ShownVisitorKey): VisitorKey {
  return { id, name, algorithm, metadata, public_jwk: publicJwk, created_at: toRfc3339(createdAt) };
}
