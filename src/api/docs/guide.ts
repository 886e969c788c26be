/** What applies to every call. Markdown: paragraphs, `code` and lists. */
export const guideText = `Configurable conversational companions: streamed text chat and voice sessions for websites, and the management of companions for platforms.

There are two kinds of routes. **Embed routes** are called by visitors' browsers and are opened by a companion's embed token in the path; it is safe in client-side code. **Management routes** are called by servers with an API key in \`Authorization: Bearer cmp_live_…\`, or by the dashboard with its cookie; each names the scope that it needs.

- Fields are in snake_case, instants are RFC 3339 in UTC, lengths count Unicode code points.
- Every response carries \`X-Request-Id\`. Limits are in \`RateLimit-Policy\` and \`RateLimit\`; a 429 adds \`Retry-After\`.
- Every failure is \`application/problem+json\` with a stable \`code\`; each code is explained at \`/docs/errors\`. Below \`/v1\` errors have OpenAI's shape instead. Outside of \`/api\` and \`/v1\`, a browser that asks for HTML gets a page with the same status. An unknown path is 404 \`not_found\`, another method on a known path 405 \`method_not_allowed\` with \`Allow\`.
- What belongs to another account is the same 404 as what does not exist.
- Lists are \`{"data":[…],"next_cursor":…}\`, newest first, in pages that stay stable while items are added. Send \`next_cursor\` as \`cursor\`.
- A creating POST may carry \`Idempotency-Key\`: sent again within 24 hours with the same body it creates nothing and gets the first response, with \`Idempotent-Replayed: true\`, but never a secret twice.
- A visitor's message may carry a \`message_id\`: sent again it gets the same reply, and a client whose connection was lost goes on with it at \`/api/embed/{token}/chat/{message_id}\`. With \`resume\` the reply goes on meanwhile.
- A website can vouch for its visitors by a token in \`X-Visitor-Token\`, a JWT that its server signs with a visitor key. \`visitor_auth\` of a companion shows whether it accepts one.
- Unknown query parameters and unknown fields of management bodies are refused with \`invalid_request\`, which names everything that is wrong.
- CORS: every \`/api\` route reflects the request's origin, without credentials.`;
