/** The documentation's own routes. */
import { Type as t } from "@sinclair/typebox";
import type { ApiOperation } from "../../http/api-description.ts";

const OpenApi = t.Object(
  { openapi: t.String({ examples: ["3.1.0"] }) },
  { additionalProperties: true, description: "An OpenAPI document." },
);
const page = { "text/html; charset=utf-8": null };

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
    answers: { 200: { description: "A page.", content: page } },
  },
  {
    id: "getErrorDocs",
    method: "GET",
    path: "/docs/errors",
    tag: "Service",
    summary: "What each error code means, and what to do",
    access: "public",
    answers: { 200: { description: "A page.", content: page } },
  },
];
