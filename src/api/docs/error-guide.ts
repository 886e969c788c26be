/**
 * `/docs/errors`: what each error code means and what to do about it, under the anchor that every problem's `type`
 * points to.
 */
import { type ErrorCode, errorCodes } from "../../domain/errors.ts";
import { type DocsEntry, framePage } from "./frame.ts";
import { renderInline } from "./html.ts";
import { errorsHref } from "./navigation.ts";

export interface ErrorHelp {
  meaning: string;
  /** What the caller should do. */
  remedy: string;
}

export const errorGuide: Record<ErrorCode, ErrorHelp> = {
  invalid_request: {
    meaning: "The body, a query parameter or a header is not as documented. Nothing was changed.",
    remedy:
      "Fix every entry of `errors`: `param` names the field, `detail` describes what it must be. Do not retry the same request.",
  },
  voice_not_configured: {
    meaning:
      "The companion has no voice, the server has no key of the voice provider, or the operator has revoked the agent that " +
      "the companion names from its account.",
    remedy:
      "Set `voice_id` or `voice_agent_id` on the companion; the operator sets `ELEVENLABS_API_KEY`. Widgets show voice only where `has_voice` is true.",
  },
  unauthorized: {
    meaning:
      "No valid credential came along: the API key is missing, unknown, revoked or expired, its account is suspended, the session has ended, or e-mail address or password is wrong.",
    remedy:
      "Send `Authorization: Bearer cmp_live_…` with a key that is listed, or sign in again. A lost key cannot be recovered: create a new one.",
  },
  totp_required: {
    meaning:
      "The password is right, and the account has a second factor: its code is missing, wrong, or was used already. On other routes: the operator asks for a second factor, and the account has none yet.",
    remedy:
      "Send the code that the authenticator app shows, or a recovery code, as `totp` beside the password. To set a second factor up, sign in to the dashboard. Anyone who has lost it asks the operator: `companiond account reset-totp <email>`.",
  },
  visitor_unverified: {
    meaning:
      "The companion asks who its visitors are, and the request has no token of the website, or one that does not hold: expired, more than a day long, for another companion, larger than 4 KiB, or not signed with one of the account's visitor keys. The answer is the same whatever is wrong. Lists and histories of conversations are for verified visitors alone.",
    remedy:
      "Sign a new token on the website's server and send it as `X-Visitor-Token`. `aud` is the companion's id, `exp` at most 24 hours ahead, the algorithm that of the key, and `kid` its id where two keys are live. Check the clock of the server that signs.",
  },
  origin_not_allowed: {
    meaning:
      "The website is not among the companion's `allowed_origins`, or another site's page tried to use the dashboard's session.",
    remedy:
      "Add the website's exact origin (scheme, host and port) to `allowed_origins`, or `https://*.domain` for its subdomains. Behind a proxy, `COMPANIOND_PUBLIC_URL` gives the server its own origin.",
  },
  challenge_required: {
    meaning:
      "The companion asks visitors for a proof of work, and the request has none, or one that is wrong, has ended, or was used for another message. `challenge` in the body is a new one, which has five minutes.",
    remedy:
      "Solve it and send the same request again with the solution as `X-Challenge`; the widget and `/sdk.js` do it automatically. Visitors with a token of the website need none.",
  },
  https_required: {
    meaning:
      "The request came in over plain HTTP to a server that serves HTTPS. Pages are redirected; requests with a key, and those that change something, are not, since a client would go on sending its key unencrypted.",
    remedy:
      "Change `http://` to `https://` in the address that you call. If the request had an API key, replace the key: it was sent unencrypted.",
  },
  insufficient_scope: {
    meaning:
      "The API key is valid, but lacks the scope that the sentence names, or the route belongs to the dashboard.",
    remedy: "Create a key with that scope. A key cannot give a scope that it lacks.",
  },
  limit_reached: {
    meaning:
      "The account holds as much as its plan allows of what the sentence names: companions, API keys, embed tokens of a companion, or bytes. Nothing was changed.",
    remedy:
      "Delete or revoke what is not needed, or shorten it, which is always possible; or ask the operator for another plan. Do not retry the same request.",
  },
  not_found: {
    meaning:
      "There is nothing at this address for you: it never existed, was deleted or revoked, or belongs to another account.",
    remedy: "Check the id or token. For an embed token also: is the companion enabled, and the account not suspended?",
  },
  method_not_allowed: {
    meaning: "The address exists, but not for this method.",
    remedy: "Use one of the methods in the `Allow` header.",
  },
  conflict: {
    meaning:
      "A request with the same `Idempotency-Key` is still running, or what the sentence says: the message with this `message_id` is another one or was cancelled, two visitor keys are live already, a slug is another's, what is applied was changed elsewhere (`drift` shows who did), fields of a draft were changed live since it began (`fields`), or a conversation is not in a state for the call: `state` and `person` show who has it.",
    remedy:
      "With `Retry-After`: wait that long and send the same request again: you get its response, and nothing is created twice. Otherwise do what the sentence says.",
  },
  precondition_failed: {
    meaning:
      "The object is no longer the one that `If-Match` names: someone changed it meanwhile. Nothing was changed.",
    remedy: "Read it again, make the change to what it is now, and send that with the new `ETag`.",
  },
  payload_too_large: {
    meaning:
      "The body is larger than the route takes: 64 KiB on embed routes and for signing in, 1 MiB on management routes, 9 MiB for a set.",
    remedy: "Send less.",
  },
  unsupported_media_type: {
    meaning: "The body did not come as JSON.",
    remedy: "Send `Content-Type: application/json`.",
  },
  idempotency_mismatch: {
    meaning: "This `Idempotency-Key` was used within 24 hours for the same call with another body.",
    remedy: "Use a new key for a new request; repeat an old one byte for byte.",
  },
  rate_limited: {
    meaning:
      "Too many requests in the last 60 seconds from this address, for this embed token or by this API key; too many messages waiting in one conversation; too many failed sign-ins; or calls under way hold what is left of a budget.",
    remedy:
      "Wait as long as `Retry-After` asks. `RateLimit` shows what is left before that happens; refused requests do not prolong the wait.",
  },
  quota_exceeded: {
    meaning:
      "The companion has used up its messages (those of the plan, or `daily_messages`), or its voice sessions, of this UTC day, or its `monthly_tokens` of this UTC month; or a verified visitor has used up their own messages (`daily_per_visitor`).",
    remedy:
      "It is available again when the UTC day or month ends (`Retry-After` has the seconds), or immediately after its owner has raised the limit, or on a plan with more of them.",
  },
  budget_exceeded: {
    meaning:
      "What is spent leaves too little of a budget of the account for what this call may cost, or its model has no price while a budget stops spending. No provider was asked, and nothing was counted.",
    remedy:
      "Wait until the budget's period ends, as `Retry-After` asks, raise the budget's `limit_micros`, or choose a cheaper model. `GET /api/budgets` shows what is spent and reserved.",
  },
  internal: {
    meaning: "An unexpected failure of the server.",
    remedy: "Try again. If it persists, give the operator the `request_id`: the log has the reason under this id.",
  },
  upstream_error: {
    meaning:
      "The provider of the language model or of the voice failed to respond. Where the caller may manage the companion (test chats, and chats by key), `kind` has the reason: of replies, it is one of the kinds of `/api/usage/failures`.",
    remedy:
      "Try again in a moment, or change what the sentence names: at `no_room` the model thought through its whole bound, so raise `max_output_tokens` or lower `reasoning_effort`; at `filtered` the provider's filter left nothing. The operator finds the provider's own words in the log, by `request_id`, and checks the settings with `companiond doctor`.",
  },
  unavailable: {
    meaning: "The server is shutting down, is overloaded, or its storage is full or out of reach.",
    remedy:
      "Try again in a moment, after `Retry-After` where it is sent. Operators: check `/readyz`, the disk and the log.",
  },
};

/** `/docs/errors`: each error code under the anchor that problems link to. */
export function renderErrorsPage(entries: readonly DocsEntry[]): string {
  const codes = Object.keys(errorCodes) as ErrorCode[];
  const body = `<h1>Errors</h1>
<p>${renderInline("Every failure is `application/problem+json`. Programs use `code`; `detail` is for people; `request_id` leads the operator to the reason in the log. Outside of `/api` and `/v1`, a browser that asks for HTML gets a page instead.")}</p>
${codes.map(renderError).join("\n")}`;
  return framePage({ title: "Errors", href: errorsHref, entries, body });
}

function renderError(code: ErrorCode): string {
  const { status, title } = errorCodes[code];
  const { meaning, remedy } = errorGuide[code];
  return `<section id="${code}">
<h2><code>${code}</code> <span class="soft">${status} ${title}</span></h2>
<p>${renderInline(meaning)}</p>
<p><strong>What to do:</strong> ${renderInline(remedy)}</p>
</section>`;
}
