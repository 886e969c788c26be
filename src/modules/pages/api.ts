/** The pages' routes, for the API document. */
import { Type as t } from "@sinclair/typebox";
import { type ApiOperation, embedTokenParam, ProblemObject } from "../../http/api-description.ts";

const html = { "text/html": null };
const shared = { method: "GET", access: "public" } as const;

const Manifest = t.Object(
  { name: t.String({ examples: ["Ada"] }) },
  { additionalProperties: true, description: "A web app manifest." },
);

export const pagesApi: ApiOperation[] = [
  {
    ...shared,
    id: "getCompanionPage",
    path: "/c/{token}",
    tag: "Embed",
    summary: "A full-page chat with the companion, for links",
    description:
      "Which sites may frame it follows the companion's `allowed_origins`. A browser that asks for a companion that is not there gets a page that says so.",
    params: { token: embedTokenParam },
    answers: {
      200: { description: "The page.", content: html },
      404: {
        description: "No such companion: a page where `Accept` names HTML, else `not_found`.",
        content: { ...html, "application/problem+json": ProblemObject },
      },
    },
  },
  {
    ...shared,
    id: "getCompanionManifest",
    path: "/c/{token}/manifest.webmanifest",
    tag: "Embed",
    summary: "The page's manifest, with which it can be installed",
    params: { token: embedTokenParam },
    answers: { 200: { description: "The manifest.", content: { "application/manifest+json": Manifest } } },
    errors: ["not_found"],
  },
  {
    ...shared,
    id: "getWelcome",
    path: "/",
    tag: "Service",
    summary: "What runs here; with the demo companion where the demo is on",
    answers: { 200: { description: "The page.", content: html } },
  },
];
