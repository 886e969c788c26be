/** The embed routes, for the API document. */
import { type ApiOperation, embedTokenParam } from "../../http/api-description.ts";
import { Text } from "../../schemas/schema.ts";
import { EmbedConfig } from "./responses.ts";

export const embedApi: ApiOperation[] = [
  {
    id: "getEmbedConfig",
    method: "GET",
    path: "/api/embed/{token}",
    tag: "Embed",
    summary: "Get what a widget needs to draw the chat",
    access: "embed",
    params: { token: embedTokenParam },
    description:
      "A browser may keep the answer for a minute, and revalidates it after. Every request that comes is judged at once.",
    answers: {
      200: {
        description: "The companion's public face.",
        content: { "application/json": EmbedConfig },
        headers: ["ETag", "Cache-Control"],
      },
      304: { description: "Unchanged since the version of `If-None-Match`.", headers: ["ETag", "Cache-Control"] },
    },
  },
  {
    id: "getAvatar",
    method: "GET",
    path: "/avatars/{file}",
    tag: "Embed",
    summary: "Get the avatar made for a companion without one",
    description: "No origin check and no limit. 404 once the token is revoked.",
    access: "public",
    params: {
      file: Text({
        description: "An embed token with `.svg` after it.",
        examples: ["emb_4fQ0ZrT8mWc2LxV7bN1yKpE6sHdJ9uGa.svg"],
      }),
    },
    answers: {
      200: {
        description: "The image.",
        content: { "image/svg+xml": null },
        headers: ["Access-Control-Allow-Origin"],
      },
    },
    errors: ["not_found"],
  },
];
