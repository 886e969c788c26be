/** Calls of tools on the wire of each vendor, in the form of recordings as in `llm-dialects.ts`, and the expected result. */
import type { AskedCall } from "../../src/domain/tool.ts";

export interface ToolDialect {
  /** In `test/fixtures/llm`. */
  file: string;
  text: string;
  calls: AskedCall[];
  /** What the provider is sent with the results. */
  carry: unknown;
}

function call(id: string, name: string, args: string): AskedCall {
  return { id, name, arguments: args };
}

function weather(id: string, city: string, space = ""): AskedCall {
  return call(id, "get_weather", `{"city":${space}"${city}"}`);
}

function calls(file: string, asked: AskedCall[], { text = "", carry = null as unknown } = {}): ToolDialect {
  return { file, text, calls: asked, carry };
}

export const chatToolDialects: readonly ToolDialect[] = [
  calls("tools-openai.sse", [
    call("call_9sVt2LwQxE4yRb7KcJm1Hn5P", "get_weather", '{"city":"Köln","days":3}'),
    weather("call_4mXb8ZpUeT1oWc6VdGk3Rf0S", "Oslo"),
  ]),
  calls("tools-azure.sse", [weather("call_aZ1", "Paris")], { text: "Let me look." }),
  calls("tools-openrouter.sse", [weather("tool_0_get_weather", "Oslo")], {
    carry: {
      thoughts: {
        reasoning_details: [
          { type: "reasoning.text", text: "The city is Oslo.", format: "google-gemini-v1", index: 0 },
          {
            ...{ type: "reasoning.encrypted", data: "CiQB0e2Kb1Fz", id: "tool_0_get_weather" },
            ...{ format: "google-gemini-v1", index: 1 },
          },
        ],
      },
      signed: [{}],
    },
  }),
  calls("tools-ollama.sse", [weather("call_h2k9x0qa", "Köln"), weather("call_p7d3m1zt", "Oslo")]),
  calls("tools-ollama-0.4.sse", [weather("call_a1", "Köln"), call("call_a2", "get_time", "{}")]),
  calls("tools-vllm.sse", [weather("chatcmpl-tool-5d1e", "上海", " ")], { text: "\n\n" }),
  calls("tools-litellm.sse", [weather("toolu_01A", "Berlin", " "), call("toolu_01B", "get_time", "{}")], {
    text: "I'll check that.",
  }),
  calls("tools-mistral.sse", [weather("D681PevKs", "Lyon", " "), call("qX8rT2bNz", "get_time", '{"city": "Lyon"}')]),
  calls("tools-gemini.sse", [weather("call01001", "Oslo"), weather("call01002", "Rom")], {
    carry: { thoughts: {}, signed: [{ extra_content: { google: { thought_signature: "CsYBAdHt" } } }, {}] },
  }),
  calls("tools-deepseek.sse", [weather("call_00_w", "Rom", " ")], {
    carry: { thoughts: { reasoning_content: "I need the weather." }, signed: [{}] },
  }),
  calls("tools-legacy.sse", [weather("call01001", "Wien")]),
  calls("tools-interleaved.sse", [weather("a", "Bern"), call("b", "get_time", '{"city":"Bern"}')]),
  calls("tools-not-streamed.json", [weather("call_n1", "Oslo"), call("call_n2", "get_time", "{}")]),
];

const sealed = { id: "rs_0", type: "reasoning", summary: [], encrypted_content: `gAAAAABpJ1u0${"Zx9".repeat(12)}` };
const comment = {
  ...{ id: "msg_1", type: "message", status: "completed", role: "assistant", phase: "commentary" },
  content: [{ type: "output_text", annotations: [], logprobs: [], text: "Looking it up." }],
};

function item(id: string, { id: callId, name, arguments: args }: AskedCall) {
  return { id, type: "function_call", status: "completed", arguments: args, call_id: callId, name };
}

const cologne = weather("call_kA7", "Köln");
const noTime = call("call_kB8", "get_time", "{}");
const paris = weather("call_z1", "Paris");
const shanghai = weather("call_v9", "上海", " ");
const oslo = weather("call_o1", "Oslo");
const unnamed = call("call01002", "get_time", "{}");

export const responsesToolDialects: readonly ToolDialect[] = [
  calls("responses-tools-openai.sse", [cologne, noTime], {
    carry: { items: [sealed, comment, item("fc_2", cologne), item("fc_3", noTime)] },
  }),
  calls("responses-tools-azure.sse", [paris], { carry: { items: [item("fc_0", paris)] } }),
  calls("responses-tools-vllm.sse", [shanghai], {
    carry: {
      items: [
        {
          ...{ id: "rs_v", type: "reasoning", summary: [], encrypted_content: null, status: null },
          content: [{ type: "reasoning_text", text: "Which city?" }],
        },
        item("fc_v", shanghai),
      ],
    },
  }),
  calls("responses-tools-whole-items.sse", [oslo, unnamed], {
    carry: { items: [item("fc_0", oslo), { ...item("fc_1", unnamed), arguments: "" }] },
  }),
  // The thoughts cannot be read again, so what was sent behind them has no id either.
  calls("responses-tools-only-end.sse", [weather("call_e1", "Rom")], {
    carry: { items: [{ ...item("", weather("call_e1", "Rom")), id: undefined }] },
  }),
  calls("responses-tools-litellm.sse", [weather("call_l1", "Bonn"), call("call_l2", "get_time", '{"city":"Bonn"}')]),
  calls("responses-tools-not-streamed.json", [weather("call_d1", "Oslo")], {
    carry: { items: [sealed, item("fc_1", weather("call_d1", "Oslo"))] },
  }),
];
