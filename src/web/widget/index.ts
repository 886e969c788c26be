/** The drop-in script: defines the element, and puts one on the page where the script's tag names a token. */
import { CompanionChat, elementName, listenToPage, setDefaultBaseUrl } from "./element.ts";
import { setScriptOrigin } from "./panel-loader.ts";

/** Known only while the script runs for the first time. */
const script = document.currentScript as HTMLScriptElement | null;

function start(): void {
  // Loaded twice: the first one serves both tags.
  const known = customElements.get(elementName) as typeof CompanionChat | undefined;
  const source = script?.src.replace(/(?:\/assets)?\/[^/]*$/, "") ?? "";
  if (!known) {
    setDefaultBaseUrl(source);
    setScriptOrigin(script);
    listenToPage();
    customElements.define(elementName, CompanionChat);
  }
  const { token } = script?.dataset ?? {};
  if (!script || !token) return;
  const put = () => putOnPage(token, source, script);
  if (document.body) put();
  else document.addEventListener("DOMContentLoaded", put, { once: true });
}

function putOnPage(token: string, baseUrl: string, script: HTMLScriptElement): void {
  if (document.querySelector(`${elementName}[token="${token}"]:not([mode="inline"])`)) return;
  const element = document.createElement(elementName);
  element.setAttribute("base-url", baseUrl);
  // `data-privacy-url` becomes `privacy-url`, and so on.
  for (const { name, value } of script.attributes) {
    if (name.startsWith("data-")) element.setAttribute(name.slice(5), value);
  }
  document.body.append(element);
}

start();
