/**
 * The language model of a cluster's tests. Each message names its conversation, so that the model sees which turns of one
 * conversation run at the same time, and each instance asks under a path of its own, so that it sees whose they are.
 */
import { type MockLlm, startMockLlm } from "./mock-llm.ts";
import {
  chunk,
  doneMark,
  type MockRequest,
  type MockResponse,
  mockUsage,
  usageChunk,
  words,
} from "./mock-llm-replies.ts";

/** One turn as the model saw it. */
export interface ModelCall {
  /** The visitor's message. */
  readonly text: string;
  readonly sessionId: string;
  /** The instance that asked. */
  readonly instance: string;
  /** The whole reply was sent, and its reader was there to the end. */
  isWhole: boolean;
  isOpen: boolean;
  /** Open calls of the same conversation when this one began. */
  readonly overlapped: readonly ModelCall[];
}

export interface ClusterModel extends AsyncDisposable {
  /** In the order of their beginnings. */
  readonly calls: readonly ModelCall[];
  readonly mock: MockLlm;
  /** Milliseconds before each word of the replies that begin from now on. */
  wordMs: number;
  /** `OPENAI_BASE_URL` of this instance. */
  baseUrl(instance: string): string;
}

/** A message that no one else sends; the model parses it again. */
export function clusterMessage(sessionId: string, number: number): string {
  return `${sessionId} number ${number}`;
}

/** What the model replies to it. */
export function clusterReply(text: string): string {
  return `You said ${text}, and that is well said: nothing could be added to it.`;
}

export async function startClusterModel(): Promise<ClusterModel> {
  const mock = await startMockLlm();
  const calls: ModelCall[] = [];
  const model: ClusterModel = {
    calls,
    mock,
    wordMs: 2,
    baseUrl: (instance) => `${mock.url}/${instance}/v1`,
    [Symbol.asyncDispose]: () => mock.close(),
  };
  mock.respond(async (request, response) => {
    const call = toCall(request, calls);
    calls.push(call);
    void response.closed.then(() => {
      call.isOpen = false;
    });
    call.isWhole = await reply(call.text, response, model.wordMs);
  });
  return model;
}

function toCall({ path, userText }: MockRequest, calls: readonly ModelCall[]): ModelCall {
  const [sessionId = ""] = userText.split(" ");
  const [, instance = ""] = path.split("/");
  const overlapped = calls.filter((other) => other.isOpen && other.sessionId === sessionId);
  return { text: userText, sessionId, instance, isWhole: false, isOpen: true, overlapped };
}

/** Resolves with whether all of it was sent. */
async function reply(text: string, response: MockResponse, wordMs: number): Promise<boolean> {
  await response.write(chunk({ role: "assistant", content: "" }));
  for (const content of words(clusterReply(text))) {
    await Bun.sleep(wordMs);
    if (response.isClosed) return false;
    await response.write(chunk({ content }));
  }
  const end = chunk({ finishReason: "stop" }) + usageChunk(mockUsage.inputTokens, mockUsage.outputTokens) + doneMark;
  if (response.isClosed) return false;
  await response.write(end);
  response.end();
  return true;
}
