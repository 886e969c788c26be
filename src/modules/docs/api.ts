/** The documentation's own routes. */
import { Type as t } from "@sinclair/typebox";
import type { ApiOperation } from "../../http/api-description.ts";

const OpenApi = t.Object(
  { openapi: t.String({ examples: ["3.1.0"] }) },
  { additionalProperties: true, description: "An OpenAPI document." },
);
const page = { 200: { description: "A page.", content: { "text/html; charset=utf-8": null } } };

export const docsApi: ApiOperation[] = [
  {
    id: "getOpenApi",
    method: "GET",
    path: "/openapi.json",
    tag: "Service",
    summary: "This document",
    access: "public",
    answers: {
      200: {
        description: "OpenAPI 3.1.",
        content: { "application/json": OpenApi },
        headers: ["Access-Control-Allow-Origin"],
      },
    },
  },
  {
    id: "getDocs",
    method: "GET",
    path: "/docs",
    tag: "Service",
    summary: "This document for people",
    access: "public",
    answers: page,
  },
  {
    id: "getDocsPage",
    method: "GET",
    path: "/docs/{page}",
    tag: "Service",
    summary: "A page of it: a group of calls, the objects, or the errors",
    access: "public",
    params: { page: t.String({ description: "The page.", examples: ["errors"] }) },
    answers: page,
    errors: ["not_found"],
  },
  {
    id: "searchDocs",
    method: "GET",
    path: "/docs/search",
    tag: "Service",
    summary: "What of it has all the given words",
    access: "public",
    query: { q: t.String({ maxLength: 200, description: "Words.", examples: ["embed token"] }) },
    answers: page,
  },
];
