/** `/api/members`: the people who work with an account's companions. */
import { jsonResponse } from "../../http/api-description.ts";
import { requireBaseUrl } from "../../http/base-url.ts";
import { uncheckedBody } from "../../http/json-body.ts";
import { cutPage, listOf, pageQuery, toWireList } from "../../http/paging.ts";
import { type Route, route } from "../../http/route.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { memberPatchBody, newMemberBody, ownMemberPatchBody } from "./model.ts";
import { InvitedMember, MemberLink, MemberObject, toWireMember } from "./responses.ts";
import {
  getMember,
  getSelf,
  makeMemberLink,
  prepareMember,
  removeMember,
  updateMember,
  updateSelf,
} from "./service.ts";

export const memberRoutes: readonly Route[] = [
  route({
    id: "listMembers",
    method: "GET",
    path: "/api/members",
    tag: "Members",
    summary: "List members",
    access: "owner",
    query: { page: pageQuery },
    document: () => ({
      description:
        "The account's own sign-in first, under the account's id, then the others in the order of their invitations.",
      responses: { 200: jsonResponse("A page of members.", listOf(MemberObject, "MemberList")) },
    }),
    async handle({ services, principal, query: { page } }) {
      const members = await services.store.members.list(principal.account.id);
      return toWireList(cutPage(members.toReversed(), { ...page, order: "asc" }), toWireMember);
    },
  }),
  route({
    id: "createMember",
    method: "POST",
    path: "/api/members",
    tag: "Members",
    summary: "Invite a member",
    access: "owner",
    body: uncheckedBody(newMemberBody),
    isIdempotent: true,
    document: () => ({
      description:
        "Any address can be invited. One that signs in already, to whatever account, is refused when the link is used. " +
        "409 if the server does not know its own address: it needs `COMPANIOND_PUBLIC_URL`.",
      bodyExample: { email: "grace@shop.example", name: "Grace", role: "responder", companion_ids: null },
      responses: { 201: jsonResponse("The member, with a link that is shown only this once.", InvitedMember) },
      errors: ["limit_reached", "conflict"],
    }),
    handle({ services, principal, request, createOnce }) {
      const baseUrl = requireBaseUrl(services.settings, request);
      return createOnce(async (sent, { nowMs }) => {
        const { made, url, write } = await prepareMember(services, principal, { sent, baseUrl, nowMs });
        return { response: toWireMember(made), secret: { url }, write };
      });
    },
  }),
  route({
    id: "getOwnMember",
    method: "GET",
    path: "/api/members/me",
    tag: "Members",
    summary: "Read who is signed in, as a member",
    access: "session",
    document: () => ({ responses: { 200: jsonResponse("The person who is signed in.", MemberObject) } }),
    handle: async ({ services, principal }) => toWireMember(await getSelf(services, principal)),
  }),
  route({
    id: "updateOwnMember",
    method: "PATCH",
    path: "/api/members/me",
    tag: "Members",
    summary: "Change one's own name and notifications",
    access: "session",
    body: uncheckedBody(ownMemberPatchBody),
    document: () => ({
      bodyExample: { name: "Grace", notify: { mail: true, words: false } },
      responses: { 200: jsonResponse("The person as they are now.", MemberObject) },
    }),
    async handle({ services, principal, readBody, writeContext }) {
      const current = await getSelf(services, principal);
      return toWireMember(await updateSelf(services, current, { sent: await readBody(), context: writeContext() }));
    },
  }),
  route({
    id: "updateMember",
    method: "PATCH",
    path: "/api/members/{id}",
    tag: "Members",
    summary: "Change a member",
    access: "owner",
    body: uncheckedBody(memberPatchBody),
    document: () => ({
      description:
        "Holds from their next request on; what they have open ends. No one changes their own role or companions, and those of the " +
        "account's own sign-in stay.",
      bodyExample: { role: "owner" },
      responses: { 200: jsonResponse("The member as they are now.", MemberObject) },
    }),
    async handle({ services, principal, params, readBody, writeContext }) {
      const current = await getMember(services, principal, params.id);
      const change = { sent: await readBody(), context: writeContext() };
      return toWireMember(await updateMember(services, principal, current, change));
    },
  }),
  route({
    id: "deleteMember",
    method: "DELETE",
    path: "/api/members/{id}",
    tag: "Members",
    summary: "Remove a member",
    access: "owner",
    document: () => ({
      description:
        "Their sessions end, and the conversations that they have are their companions' again. The account's own sign-in stays: 409.",
      responses: { 204: { description: "Removed; their address can be invited again." } },
      errors: ["conflict"],
    }),
    handle: ({ services, principal, params, writeContext }) =>
      removeMember(services, principal, params.id, writeContext()),
  }),
  route({
    id: "createMemberLink",
    method: "POST",
    path: "/api/members/{id}/link",
    tag: "Members",
    summary: "Make another link for a member",
    access: "owner",
    status: 201,
    document: () => ({
      description:
        "An invitation again, or another password for one who has joined; their link before this one ends. 409 for the account's own " +
        "sign-in, and if the server does not know its own address.",
      responses: { 201: jsonResponse("The link.", MemberLink) },
      errors: ["conflict"],
    }),
    async handle({ services, principal, request, params, writeContext }) {
      const baseUrl = requireBaseUrl(services.settings, request);
      const made = { id: params.id, baseUrl, context: writeContext() };
      const { url, expiresAtMs } = await makeMemberLink(services, principal, made);
      return { url, expires_at: toRfc3339(expiresAtMs) };
    },
  }),
];
