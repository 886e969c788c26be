/** `/api/companions/{id}/avatar`: the image that a companion shows, kept by the server. */
import { Type as t } from "@sinclair/typebox";
import { AppError, missing } from "../../domain/errors.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { type JsonBody, mediaTypeOf } from "../../http/json-body.ts";
import { readCheck, respondVersioned } from "../../http/preconditions.ts";
import { type Route, route } from "../../http/route.ts";
import { later } from "../../lib/later.ts";
import { SemaphoreFull } from "../../lib/semaphore.ts";
import { sha256Hex } from "../../lib/sha256.ts";
import { type ImageFault, makeSmallImage } from "../../lib/small-image.ts";
import { CompanionObject, toVersion, toWireCompanion } from "./responses.ts";
import { getCompanion } from "./service.ts";

const maxBytes = 2 * 1024 * 1024;
const side = 512;
const types = ["image/png", "image/jpeg", "image/webp"];
const binary = later(() => t.Unsafe<Uint8Array>({ type: "string", format: "binary" }));

const faults: Readonly<Record<ImageFault, () => AppError>> = {
  "another format": () => new AppError("unsupported_media_type", `Send an image: ${types.join(", ")}.`),
  "too many pixels": () => new AppError("payload_too_large", "The image has more than 20 million pixels."),
  broken: () => new AppError("invalid_request", "The image could not be read: it is damaged or incomplete."),
};
const tooLarge = () => new AppError("payload_too_large", "The image is larger than 2 MiB.");

/** The image's own bytes. */
const avatarBody: JsonBody<Uint8Array> = {
  checker: {
    get schema() {
      return binary;
    },
  },
  get forms() {
    return Object.fromEntries(types.map((type) => [type, { schema: binary }]));
  },
  limitBytes: maxBytes,
  isOptional: false,
  check: (sent) => sent as Uint8Array,
  async take({ request, bodies, accountId }) {
    if (!types.includes(mediaTypeOf(request) ?? "")) throw faults["another format"]();
    if (Number(request.headers.get("content-length")) > maxBytes) throw tooLarge();
    let length = 0;
    const { pieces, release } = await bodies.take(request, accountId, (piece) => {
      length += piece.length;
      if (length > maxBytes) throw tooLarge();
    });
    const bytes = Buffer.concat(pieces);
    return { digest: async () => sha256Hex(bytes), parse: async () => bytes, release };
  },
};

async function readImage(sent: Uint8Array): Promise<Uint8Array> {
  const image = await makeSmallImage(sent, side).catch((error: unknown) => {
    if (!(error instanceof SemaphoreFull)) throw error;
    throw new AppError("rate_limited", "Too many images are being read. Try again in a moment.", {
      retryAfterSeconds: 5,
    });
  });
  if (typeof image === "string") throw faults[image]();
  return image;
}

export const avatarRoutes: readonly Route[] = [
  route({
    id: "setAvatar",
    method: "PUT",
    path: "/api/companions/{id}/avatar",
    tag: "Companions",
    summary: "Upload a companion's avatar",
    access: "companions:write",
    body: avatarBody,
    document: () => ({
      description:
        `The body is the image: PNG, JPEG or WebP of at most 2 MiB and 20 million pixels. It is kept as WebP of at most ${side} ` +
        "pixels in width and height, without its metadata, and counts in the account's bytes. `avatar_url` comes first where " +
        "it is set. Neither versions nor files have it.",
      headers: ["If-Match"],
      responses: { 200: jsonResponse("The companion, with `avatar`.", CompanionObject, "ETag") },
      errors: ["limit_reached", "precondition_failed", "payload_too_large", "unsupported_media_type", "rate_limited"],
    }),
    async handle({ services, principal, request, set, params, readBody, writeContext }) {
      const { id } = await getCompanion(services, principal, params.id);
      const check = readCheck(request, toVersion);
      const image = await readImage(await readBody());
      const avatar = { hash: sha256Hex(image).slice(0, 32), image };
      const { companions } = services.store;
      const changed = await companions.setAvatar(principal.account.id, id, avatar, writeContext(), check);
      if (changed === null) throw missing("companion");
      return respondVersioned(request, set, toWireCompanion(changed), toVersion(changed));
    },
  }),
  route({
    id: "deleteAvatar",
    method: "DELETE",
    path: "/api/companions/{id}/avatar",
    tag: "Companions",
    summary: "Take away a companion's uploaded avatar",
    access: "companions:write",
    document: () => ({
      headers: ["If-Match"],
      responses: { 204: { description: "It has none, or never had one." } },
      errors: ["precondition_failed"],
    }),
    async handle({ services, principal, request, params, writeContext }) {
      const { id } = await getCompanion(services, principal, params.id);
      const check = readCheck(request, toVersion);
      const changed = await services.store.companions.setAvatar(principal.account.id, id, null, writeContext(), check);
      if (changed === null) throw missing("companion");
    },
  }),
];
