// The whole chat: configuration, streamed replies, a stop button, and what to say when a reply fails.
import { baseUrl, token } from "./settings.js";

const { CompanionError, createCompanion } = await import(`${baseUrl}/sdk.js`);
const companion = createCompanion({ baseUrl, token });
const find = (id) => document.getElementById(id);

function addMessage(text, className) {
  const item = document.createElement("li");
  item.className = className;
  // A model writes this: text, never HTML.
  item.textContent = text;
  find("messages").append(item);
  return item;
}

function describe(error) {
  if (!(error instanceof CompanionError)) return "Something went wrong.";
  if (error.code === "incomplete") return "The reply was cut off. Please ask again.";
  if (error.retryAfterMs !== null) return `Please try again in ${Math.ceil(error.retryAfterMs / 1000)} s.`;
  return error.message;
}

async function send(message) {
  addMessage(message, "own");
  const reply = addMessage("", "reply");
  const controller = new AbortController();
  find("stop").onclick = () => controller.abort();
  find("send").disabled = true;
  find("stop").disabled = false;
  try {
    for await (const text of companion.chat(message, { signal: controller.signal })) reply.append(text);
  } catch (error) {
    if (!controller.signal.aborted) addMessage(describe(error), "problem");
  } finally {
    find("send").disabled = false;
    find("stop").disabled = true;
  }
}

find("form").onsubmit = (event) => {
  event.preventDefault();
  const message = find("message").value;
  find("message").value = "";
  void send(message);
};

try {
  const { name, greeting } = await companion.config();
  find("name").textContent = name;
  if (greeting) addMessage(greeting, "reply");
} catch (error) {
  addMessage(describe(error), "problem");
}
