/** The assets' routes, for the API document. */
import { Type as t } from "@sinclair/typebox";
import type { ApiOperation, ApiResponse } from "../../http/api-description.ts";
import { Text } from "../../schemas/schema.ts";

const shared = { method: "GET", tag: "Service", access: "public" } as const;
const script: Record<number, ApiResponse> = {
  200: {
    description: "The script.",
    content: { "text/javascript": null },
    headers: ["Access-Control-Allow-Origin"],
  },
  304: { description: "Unchanged since the version of `If-None-Match`." },
};

const image: Record<number, ApiResponse> = {
  200: { description: "The image.", content: { "image/png": null }, headers: ["Access-Control-Allow-Origin"] },
  304: { description: "Unchanged since the version of `If-None-Match`." },
};

const Integrity = t.Object(
  {},
  { $id: "Integrity", additionalProperties: true, description: "By file: its hashed address and its integrity value." },
);

const Words = t.Object({}, { additionalProperties: t.String(), description: "The interface's words in one language." });

export const assetsApi: ApiOperation[] = [
  {
    ...shared,
    id: "getWidget",
    path: "/widget.js",
    summary: "The widget: paste it with `data-token`",
    answers: script,
    errors: ["not_found"],
  },
  {
    ...shared,
    id: "getPanel",
    path: "/panel.js",
    summary: "The widget's second file, which it fetches by itself",
    answers: script,
    errors: ["not_found"],
  },
  {
    ...shared,
    id: "getSdk",
    path: "/sdk.js",
    summary: "The client of the embed routes, without a user interface",
    answers: script,
    errors: ["not_found"],
  },
  { ...shared, id: "getIcon", path: "/favicon.ico", summary: "The icon of tabs, a PNG of 48 by 48", answers: image },
  {
    ...shared,
    id: "getTouchIcon",
    path: "/apple-touch-icon.png",
    summary: "The icon of home screens, a PNG of 180 by 180",
    answers: image,
  },
  {
    ...shared,
    id: "getShareImage",
    path: "/share.png",
    summary: "The image in previews of links, a PNG of 1200 by 630",
    answers: image,
  },
  {
    ...shared,
    id: "getIntegrity",
    path: "/assets/integrity.json",
    summary: "Hashed addresses and integrity values of the scripts",
    answers: {
      200: {
        description: "For `<script integrity>`.",
        content: { "application/json": Integrity },
        headers: ["Access-Control-Allow-Origin"],
      },
    },
  },
  {
    ...shared,
    id: "getAsset",
    path: "/assets/{file}",
    summary: "A file of the web build, under a name that changes with its content",
    params: { file: Text({ description: "The hashed name.", examples: ["widget.3f9a1c2b.js"] }) },
    answers: {
      200: {
        description: "The file, for ever the same.",
        content: {
          "text/javascript": null,
          "text/css": null,
          "image/svg+xml": null,
          "image/png": null,
          "application/json": Words,
        },
        headers: ["Access-Control-Allow-Origin"],
      },
      304: { description: "Unchanged since the version of `If-None-Match`." },
    },
    errors: ["not_found"],
  },
];
