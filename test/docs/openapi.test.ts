/** The API document: valid, whole, and true to the sitemap and the models. */

import { expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describeRoute } from "../../src/api/docs/described-route.ts";
import type { OpenApiDocument } from "../../src/api/docs/document.ts";
import { stampDocument } from "../../src/api/docs/reference.ts";
import { createApp } from "../../src/app/app.ts";
import { routes } from "../../src/app/routes.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { errorCodes } from "../../src/domain/errors.ts";
import { isEmbedAccess } from "../../src/http/api-description.ts";
import { apiClient } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { apiDocument, checkConformance, Nonconformance, toPointer, validatorAt } from "../support/conformance.ts";
import { openDashboard, openMemberDashboard } from "../support/dashboard.ts";
import { imageOf, makePng } from "../support/images.ts";
import { handoffSettings } from "../support/people-world.ts";
import { askInVain } from "../support/unanswered.ts";
import { createWebsiteKey, signToken } from "../support/visitor-keys.ts";

const operations = routes.map(describeRoute);

test("is valid OpenAPI 3.1", async () => {
  const validator = new Validator();
  const result = await validator.validate({ ...structuredClone(apiDocument) });
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
  expect(validator.version).toBe("3.1");
});

test("is served as it is built, with the address that was asked", async () => {
  const server = await startTestServer();
  try {
    const response = await fetch(`${server.url}/openapi.json`);
    const served = (await response.json()) as OpenApiDocument;
    expect(served.openapi).toBe("3.1.0");
    expect(served.servers).toEqual([{ url: server.url }]);
    expect(served.paths).toEqual(
      JSON.parse(JSON.stringify(apiDocument.paths).replaceAll("http://localhost:3000", server.url)),
    );
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    // Its number is its own, wherever the server is: another document has another one.
    const elsewhere = await fetch(`${server.url}/openapi.json`, { headers: { host: "elsewhere.example" } });
    expect(((await elsewhere.json()) as OpenApiDocument).info.version).toBe(served.info.version);
    expect(served.info.version).toMatch(/^\d+\.\d+\.\d+\+[0-9a-f]{12}$/);
    expect(served.info.version).toEndWith(`+${stampDocument(routes)}`);
    expect(stampDocument(routes.slice(1))).not.toBe(stampDocument(routes));
  } finally {
    await server.close();
  }
});

test("describes every route of the sitemap, and no other", async () => {
  const server = await startTestServer({
    environment: { ELEVENLABS_API_KEY: "xi-test", ELEVENLABS_WEBHOOK_SECRET: "s" },
  });
  try {
    const shape = (method: string, path: string) => `${method} ${path.replace(/\{\w+\}|:\w+|\*/g, "{}")}`;
    const routed = (await createApp(server.services).listRoutes()).map((route) => shape(route.method, route.path));
    const described = operations.map((operation) => shape(operation.method, operation.path));
    expect(described.toSorted()).toEqual(routed.filter((route) => !route.startsWith("OPTIONS ")).toSorted());
  } finally {
    await server.close();
  }
});

test("names every call once, and every parameter of its path", () => {
  const ids = operations.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, params = {} } of operations) {
    expect(Object.keys(params)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name));
  }
});

/** A new object goes into the list; one that is there keeps its name, which generated clients give to a type. */
const objectNames = `
  Problem EmbedConfig ChatRequest VoiceTokenRequest VoiceTokenResponse NewCompanion Companion CompanionList
  LineProblem CompanionPatch TestChat EmbedTokenList EmbedToken NewEmbedToken ConversationList Conversation
  ConversationWithMessages Message UsageList UsageRow UsageEvent FailedReplyList FailedReplies Quota ApiKeyList ApiKey NewApiKey
  NewApiKeyAnswer AuditList AuditEntry SignIn SignedIn Account Session TotpFacts ServerFacts Holdings SetUp
  PasswordReset PasswordChange SessionList TotpSecret TotpConfirmation RecoveryCodes TotpRemoval AccountList
  NewAccount AccountPatch ResetLink VoiceAgentGrantList VoiceAgentGrant NewVoiceAgentGrant Integrity Alive Ready
  Status SilentModel WebhookTaken VisitorKeyList VisitorKey NewVisitorKey NewVisitorKeyAnswer PublicJwk VerifiedVisitor
  Budget BudgetList NewBudget BudgetPatch BudgetSubject BudgetPreview SpendingStop SpendingStopList NewSpendingStop
  OwnConversationList OwnConversation OwnConversationWithMessages VisitorMerge ChatEvent ChatText ChatSources ChatEnd Challenge
  KeyChatRequest OpenAiError ChatCompletionRequest ChatCompletion ChatCompletionEvent ChatCompletionChunk
  ChatCompletionEnd Model ModelList Me SpendingFacts PeopleFacts
  Source SourceList NewTextSource NewUrlSource NewSitemapSource NewFileSource SourcePassages SourcePassage SeenPassage
  KnowledgeSearch KnowledgeFound FoundPassage RetiringModel RefusedConfig UnansweredList UnansweredQuestion QuestionAnswer
  Tool ToolList NewTool ToolPatch ToolWithSecret ToolCall ToolCallList ToolCallRecord ToolTest ToolTestRequest
  DecisionRequest KeyDecisionRequest ChatState PersonRequest KeyPersonRequest PersonAsked
  Invitation InvitedMember Member MemberLink MemberList MemberPatch NewMember OwnMemberPatch SignedInMember
  BudgetReachedEvent CompanionCreatedEvent CompanionDeletedEvent CompanionUpdatedEvent ConversationStartedEvent
  MessageCompletedEvent MessageFailedEvent QuestionUnansweredEvent VisitorErasedEvent VoiceTranscriptEvent WebhookEvent
  HandoffRequestedEvent HandoffTakenEvent HandoffReleasedEvent HandoffMissedEvent MessageVisitorEvent MessagePersonEvent
  ConversationUpdatedEvent ContactGivenEvent RatingGivenEvent
  WebhookTestEvent NewWebhook NewWebhookAnswer RotatedWebhook Webhook WebhookAttempt WebhookDelivery WebhookDeliveryList WebhookList WebhookPatch
  InboxConversation InboxEvent InboxPresence InboxTyping KeyLiveReport LiveEvent LiveMessage LivePage LiveReport
  LiveTyping
  ConversationEvent ConversationEventList ConversationHandoff ConversationNote ConversationPatch ConversationRead
  ConversationRelease ConversationTake MessageAuthor NewConversationNote Person PersonMessage PersonTyping Presence
  PresenceChange ReservedConversation SentPersonMessage TakenConversation
  ContactRequest KeyContactRequest ConversationContact Lead LeadList Insights
  Rating RatingRequest KeyRatingRequest ResolvedRequest KeyResolvedRequest
  Apply AppliedCompanion AppliedSource AppliedTool ApplyResult PlanItem
  CompanionVersion CompanionVersionList WholeCompanionVersion VersionDiff RestoredCompanion CompanionDraft DraftPublication
  CompanionSetFacts AccountQuestion AccountQuestionList AccountSource AccountSourceList ConversationRow Excerpt SearchHit
  Server ServerFailure ServerFinding TestModel TestedModel LinkSecret OneTimeLink PossiblySignedIn
`;

test("keeps the names of its objects", () => {
  const names = Object.keys(apiDocument.components["schemas"] ?? {});
  expect(names.toSorted()).toEqual(objectNames.trim().split(/\s+/).toSorted());
});

test("describes every parameter, body field and response", () => {
  const silent: string[] = [];
  for (const [path, operations] of Object.entries(apiDocument.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      for (const parameter of operation.parameters ?? []) {
        if (!parameter.description) silent.push(`${method} ${path}: ${parameter.name}`);
      }
    }
  }
  for (const name of ["NewCompanion", "CompanionPatch", "NewApiKey", "ChatRequest", "SignIn", "NewAccount"]) {
    const { properties = {} } = apiDocument.components.schemas?.[name] ?? {};
    for (const [field, schema] of Object.entries(properties as Record<string, { description?: string }>)) {
      if (!schema.description) silent.push(`${name}.${field}`);
    }
  }
  expect(silent).toEqual([]);
});

test("gives examples that its own schemas accept", () => {
  const faults: string[] = [];
  const examine = (content: Record<string, { example?: unknown }> | undefined, ...place: string[]) => {
    for (const [type, { example }] of Object.entries(content ?? {})) {
      if (example === undefined) continue;
      const validate = validatorAt(toPointer(...place, "content", type, "schema"));
      if (!validate(example)) faults.push(`${place.join(" ")}: ${JSON.stringify(validate.errors)}`);
    }
  };
  for (const [path, operations] of Object.entries(apiDocument.paths)) {
    for (const [method, { requestBody, responses }] of Object.entries(operations)) {
      examine(requestBody?.content, "paths", path, method, "requestBody");
      for (const [status, response] of Object.entries(responses)) {
        if (!("$ref" in response)) examine(response.content, "paths", path, method, "responses", status);
      }
    }
  }
  expect(faults).toEqual([]);
});

function toForm({ file = "", ...fields }: Record<string, string>): FormData {
  const form = new FormData();
  form.append("file", new File([file], "returns.txt"));
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

/** Of a tool that nobody can reach. Resolves with the call's id. */
async function addWaitingCall(
  { services: { store, ids, sealing, clock } }: TestServer,
  { id: companionId, accountId }: Companion,
  sessionId: string,
): Promise<string> {
  const nowMs = clock.nowMs();
  const id = ids.uuid();
  const tool = { id, companionId, name: `book_${id.slice(-12)}`, title: "Book", headerNames: [], sealedHeaders: null };
  const parameters = { type: "object" };
  const target = { type: "http", url: "https://127.0.0.1/", description: "", parameters } as const;
  const sealedSecret = await sealing.seal("any", "any");
  const terms = { timeoutMs: 1000, confirm: true, requiresVisitor: false, createdAt: nowMs, updatedAt: nowMs };
  await store.tools.create(accountId, { ...tool, target, sealedSecret, ...terms }, testContext());
  const call = { id: ids.uuid(), toolId: id, tool: tool.name, arguments: "{}", result: null, durationMs: null };
  const key = { companionId, sessionId, visitorId: null };
  const reply = { key, replyId: ids.uuid(), messageId: null };
  await store.toolCalls.begin(reply, [{ ...call, state: "waiting", createdAt: nowMs }]);
  return call.id;
}

test("gives examples of bodies that the server takes", async () => {
  const server = await startTestServer({ environment: { COMPANIOND_MODELS: "test-model,gpt-6-luna" } });
  try {
    const operator = await openDashboard(server, { role: "operator" });
    const companion = await server.createCompanion(
      {
        ...{ visitorAuth: "optional", handoff: handoffSettings, ratings: true, askResolved: true },
        leads: { when: "always", consentText: "You may write to me.", replyTo: null },
      },
      operator.account,
    );
    const apiKey = (await server.createKey(operator.account)).key;
    const platform = apiClient(server.url, apiKey);
    const visitorKey = await createWebsiteKey(server.url, apiKey);
    const token = await signToken(visitorKey, companion.id);
    const budget = { account: true, limit_micros: 1, period: "day", action: "notify" };
    const ids: Record<string, string> = { id: companion.id, token: companion.embedToken };
    const budgetId = (await platform.call("POST", "/api/budgets", budget)).json.id;
    const webhook = { url: "https://shop.example/events", events: ["*"], enabled: false };
    const webhookId = (await platform.call("POST", "/api/webhooks", webhook)).json.id;
    const memberId = (await openMemberDashboard(server, operator)).member.id;
    const sources = `/api/companions/${companion.id}/sources`;
    const text = (await operator.call("POST", sources, { type: "text", title: "Returns", text: "" })).json.id;
    const file = (await operator.call("POST", sources, toForm({ file: "" }))).json.id;
    const tools = `/api/companions/${companion.id}/tools`;
    const toolId = (await platform.call("POST", tools, { name: "any", url: "https://shop.example/" })).json.id;
    const questionId = await askInVain(server, platform, companion, "Do you ship to Norway?");
    await chat(server.url, companion.embedToken, { message: "Hello" });
    // What is rated, by a visitor and by a platform's: before any of them asks for a person.
    const session_id = "7b1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10";
    const rated = { message: "Hello", session_id, message_id: crypto.randomUUID() };
    await chat(server.url, companion.embedToken, rated);
    await platform.call("POST", `/api/companions/${companion.id}/chat`, { ...rated, visitor: { sub: "user-42" } });
    const conversationId = (await platform.call("GET", "/api/conversations")).json.data[0]?.id ?? "";
    const refused: string[] = [];
    // A model is not tested where spending is stopped.
    const inOrder = operations.toSorted(
      (a, b) => Number(a.id === "createSpendingStop") - Number(b.id === "createSpendingStop"),
    );
    for (const { method, path, body, access } of inOrder) {
      if (!body || access === "public" || access === "session") continue;
      // Only what has an account of its own to be changed.
      const owner = access === "operator" ? (await server.createAccount()).id : ids.id;
      const byNoun: Record<string, string> = {
        budgets: budgetId,
        webhooks: webhookId,
        members: memberId,
        conversations: conversationId,
      };
      const id = byNoun[path.split("/")[2] ?? ""] ?? owner;
      const { requestBody } = apiDocument.paths[path]?.[method.toLowerCase()] ?? {};
      for (const [type, { example }] of Object.entries(requestBody?.content ?? {})) {
        const isForm = type === "multipart/form-data";
        const sessionId = (example as { session_id?: string } | undefined)?.session_id ?? "";
        const callId = path.endsWith("{call_id}") ? await addWaitingCall(server, companion, sessionId) : "";
        const sourceId = isForm ? file : text;
        const others = { source_id: sourceId, question_id: questionId, tool_id: toolId, call_id: callId };
        const own: Record<string, string> = { ...ids, id: id ?? "", message_id: rated.message_id, ...others };
        const target = path.replace(/\{(\w+)\}/g, (_, name: string) => own[name] ?? "");
        const plain = path.startsWith("/v1/") ? { ...(example as object), model: companion.id } : example;
        const image = type.startsWith("image/") ? imageOf(makePng(1, 1), type) : null;
        const sent = image ?? (isForm ? toForm(example as Record<string, string>) : plain);
        // Chats are for keys alone, and only keys name who acts.
        const isForKeys = access === "chat:write" || access === "conversations:reply";
        const caller = isForKeys ? platform : operator;
        const response = await caller.call(method, target, sent, {
          ...(isForm ? {} : { "content-type": type }),
          ...(access === "visitor" ? { "x-visitor-token": token } : {}),
        });
        const isTaken = response.status < 300 || response.text.includes("voice_not_configured");
        if (!isTaken) refused.push(`${method} ${path} ${type}: ${response.text}`);
      }
    }
    expect(refused).toEqual([]);
  } finally {
    await server.close();
  }
});

test("documents both ways in, and the scope of each management call", () => {
  expect(Object.keys(apiDocument.components.securitySchemes ?? {})).toEqual([
    "apiKey",
    "sessionCookie",
    "localSessionCookie",
  ]);
  const { post } = apiDocument.paths["/api/companions"] ?? {};
  expect(post?.security[0]).toEqual({ apiKey: [] });
  expect(post?.["x-required-scope"]).toBe("companions:write");
  expect(post?.description).toContain("the scope `companions:write`");
  expect(apiDocument.paths["/api/embed/{token}/chat"]?.post?.security).toEqual([]);
  expect(apiDocument.paths["/api/accounts"]?.get?.security).toEqual([
    { sessionCookie: [] },
    { localSessionCookie: [] },
  ]);
});

test("documents the visitor's token wherever somebody looks at it, and its refusal", () => {
  const asking = operations.filter(({ access, isPageView }) => isEmbedAccess(access) && !isPageView);
  expect(asking.length).toBeGreaterThan(4);
  for (const { path, method, access } of operations) {
    const { parameters = [], responses } = apiDocument.paths[path]?.[method.toLowerCase()] ?? expect.unreachable(path);
    const header = parameters.find(({ name }) => name === "X-Visitor-Token");
    const isAsking = asking.some((one) => one.path === path && one.method === method);
    expect([path, header?.in, header?.required]).toEqual(
      isAsking ? [path, "header", access === "visitor"] : [path, undefined, undefined],
    );
    expect([path, JSON.stringify(responses[401] ?? "").includes("VisitorUnverified")]).toEqual([path, isAsking]);
  }
});

test("documents every error code that a route can respond with", () => {
  const { responses = {} } = apiDocument.components;
  const documented = new Set(
    JSON.stringify(responses)
      .match(/#[a-z_]+(?=")/g)
      ?.map((anchor) => anchor.slice(1)),
  );
  // 405, and what only plain HTTP beside HTTPS is told, belong to no documented call.
  const expected = Object.keys(errorCodes).filter((code) => !["method_not_allowed", "https_required"].includes(code));
  expect([...documented].toSorted()).toEqual(expected.toSorted());
});

const headers = { "x-request-id": "1", "content-type": "application/json" };
const problem = { type: "http://localhost/", title: "", status: 401, detail: "", code: "not_found", request_id: "1" };
const problemHeaders = { ...headers, "content-type": "application/problem+json", "www-authenticate": "Bearer" };

test.each([
  ["an undocumented status", new Response("{}", { status: 418, headers })],
  ["a body with a wrong field", Response.json({ data: [{ id: 1 }], next_cursor: null }, { headers })],
  ["a missing field", Response.json({ data: [] }, { headers })],
  ["another content type", new Response("[]", { headers: { ...headers, "content-type": "text/plain" } })],
  ["an answer without a request id", Response.json({ data: [], next_cursor: null })],
  ["a code that is another status's", Response.json(problem, { status: 401, headers: problemHeaders })],
  ["a 429 without Retry-After", Response.json({}, { status: 429, headers })],
])("the recorder of all tests refuses %s", async (_, response) => {
  const check = checkConformance("GET", "http://localhost/api/companions", response);
  await expect(check).rejects.toBeInstanceOf(Nonconformance);
});

test("the recorder takes what is documented, and refuses a call that is not", async () => {
  const page = () => Response.json({ data: [], next_cursor: null }, { headers });
  await checkConformance("GET", "http://localhost/api/companions?limit=1", page());
  const check = checkConformance("GET", "http://localhost/api/unheard-of", page());
  await expect(check).rejects.toThrow("no such call is described");
});
