/** The widget's element in the dashboard: with a configuration from here, and answers from here. */
import type { CompanionConfig } from "../sdk/connection.ts";
import { forgetCompanion } from "../sdk/storage.ts";

export interface PreviewElement extends HTMLElement {
  config: CompanionConfig | null;
  fetch: ((input: RequestInfo | URL, init?: RequestInit) => Promise<Response>) | undefined;
  open(): void;
  send(text: string): Promise<void>;
}

let loading: Promise<unknown> | null = null;

function loadWidget(): Promise<unknown> {
  // The path is built at run time, so that the bundler does not include the file.
  loading ??= import(`${location.origin}/widget.js`).catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

/**
 * Puts a new element into the host, as a visitor has it who has never been here; null where the host has gone meanwhile.
 * `prepare` sets what must be set before it is on the page. Rejects where the widget cannot be loaded.
 */
export async function mountWidget(
  host: HTMLElement | null,
  token: string,
  prepare: (element: PreviewElement) => void,
): Promise<PreviewElement | null> {
  await loadWidget();
  if (!host?.isConnected) return null;
  forgetCompanion(token);
  const element = document.createElement("companion-chat") as PreviewElement;
  element.setAttribute("token", token);
  element.setAttribute("base-url", location.origin);
  prepare(element);
  host.replaceChildren(element);
  return element;
}
