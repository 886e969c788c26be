/** The usage route, for the API document. */
import { Type as t } from "@sinclair/typebox";
import { type ApiOperation, idParam } from "../../http/api-description.ts";
import { groups, maxDays } from "./model.ts";
import { FailedReplyList, QuotaObject, UsageList } from "./responses.ts";

const day = (description: string, example: string) => t.String({ format: "date", description, examples: [example] });

const days = {
  from: day("First day. Left out: 30 days up to `to`.", "2026-01-01"),
  to: day("Last day. Left out: today.", "2026-01-31"),
};

export const usageApi: ApiOperation[] = [
  {
    id: "getUsage",
    method: "GET",
    path: "/api/usage",
    tag: "Usage",
    summary: "Read usage, as JSON or CSV",
    description: `By UTC day, both ends included, at most ${maxDays} days at a time. Days without usage have no row. With \`Accept: text/csv\` it comes as a file for spreadsheets.`,
    access: "usage:read",
    query: {
      ...days,
      group_by: t.String({
        default: "day",
        pattern: `^(${groups.join("|")})(,(${groups.join("|")}))*$`,
        description: `Some of \`${groups.join("`, `")}\`, with commas between.`,
      }),
      companion_id: idParam("companion"),
    },
    takesMetadata: true,
    answers: {
      200: {
        description: "The sums by group.",
        content: { "application/json": UsageList, "text/csv": null },
        headers: ["Content-Disposition"],
      },
    },
  },
  {
    id: "getFailedReplies",
    method: "GET",
    path: "/api/usage/failures",
    tag: "Usage",
    summary: "Read why replies failed",
    description: `By UTC day, both ends included, at most ${maxDays} days at a time; trial chats are counted too. The provider's own words are the operator's alone.`,
    access: "usage:read",
    query: { ...days, companion_id: idParam("companion") },
    answers: { 200: { description: "By kind.", content: { "application/json": FailedReplyList } } },
  },
  {
    id: "getQuota",
    method: "GET",
    path: "/api/companions/{id}/quota",
    tag: "Usage",
    summary: "Read how many messages and voice sessions a companion has left today",
    description: "What the provider refused is given back. Trial chats count like visitors' messages.",
    access: "usage:read",
    params: { id: idParam("companion") },
    answers: { 200: { description: "Today's quota.", content: { "application/json": QuotaObject } } },
  },
];
