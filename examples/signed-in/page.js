// Puts the chat on the page, and hands it the visitor's tokens.
const { name, baseUrl, token } = await (await fetch("/session")).json();
document.getElementById("who").textContent = name === null ? "No one is signed in." : `You are ${name}.`;
document.getElementById(name === null ? "sign-in" : "sign-out").hidden = false;

const script = document.createElement("script");
script.src = `${baseUrl}/widget.js`;
const chat = document.createElement("companion-chat");
chat.setAttribute("token", token);
document.body.append(chat, script);
await customElements.whenDefined("companion-chat");

async function fetchVisitorToken() {
  const response = await fetch("/visitor-token", { cache: "no-store" });
  if (response.status === 401) return null; // No one is signed in: an anonymous visitor.
  if (!response.ok) throw new Error("There is no visitor token.");
  return await response.text();
}

// A function, so that the chat gets a new token before the old one ends.
chat.identify(fetchVisitorToken);

// The next one at this browser must not see what this visitor said.
document.getElementById("sign-out").addEventListener("submit", () => chat.identify(null));
