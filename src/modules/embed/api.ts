/** The embed routes, for the API document. */
import { type ApiOperation, embedTokenParam } from "../../http/api-description.ts";
import { Text } from "../../http/schema.ts";
import { EmbedConfig } from "./answers.ts";

export const embedApi: ApiOperation[] = [
  {
    id: "getEmbedConfig",
    method: "GET",
    path: "/api/embed/{token}",
    tag: "Embed",
    summary: "Get what a widget needs to draw the chat",
    access: "embed",
    params: { token: embedTokenParam },
    answers: { 200: { description: "The companion's public face.", content: { "application/json": EmbedConfig } } },
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
