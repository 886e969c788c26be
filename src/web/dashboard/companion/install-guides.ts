/** Where the snippet goes, for each website builder, and whether visitors there can use this server's address. */

interface Guide {
  name: string;
  steps: readonly string[];
  snippet(baseUrl: string, token: string): string;
}

const scriptTag = (baseUrl: string, token: string) =>
  `<script src="${baseUrl}/widget.js" data-token="${token}" async></script>`;

const element = (baseUrl: string, token: string) =>
  `<script src="${baseUrl}/widget.js" async></script>\n\n<companion-chat mode="inline" token="${token}"></companion-chat>`;

export const guides: readonly Guide[] = [
  {
    name: "Plain HTML",
    steps: ["Open the page, or the template that all pages share.", "Paste this line before </body>.", "Publish."],
    snippet: scriptTag,
  },
  {
    name: "Inside a page, without a bubble",
    steps: ["Paste this where you want the chat.", "The chat fills the width of its container."],
    snippet: element,
  },
  {
    name: "WordPress",
    steps: [
      "Install a plugin for header and footer code, such as WPCode.",
      "Open its “Footer” field and paste this line.",
      "Save, and clear the cache of your caching plugin.",
    ],
    snippet: scriptTag,
  },
  {
    name: "Shopify",
    steps: [
      "Open Online Store, Themes, then ⋯, Edit code.",
      "Open layout/theme.liquid and paste this line before </body>.",
      "Save.",
    ],
    snippet: scriptTag,
  },
  {
    name: "Wix",
    steps: [
      "Open Settings, Custom code, Add custom code.",
      "Paste this line, and choose “All pages” and “Body – end”.",
      "Apply. Your site needs its own domain.",
    ],
    snippet: scriptTag,
  },
  {
    name: "Squarespace",
    steps: ["Open Settings, Advanced, Code injection.", "Paste this line into “Footer”.", "Save."],
    snippet: scriptTag,
  },
  {
    name: "Webflow",
    steps: ["Open Site settings, Custom code.", "Paste this line into “Footer code”.", "Save, then publish."],
    snippet: scriptTag,
  },
  {
    name: "Google Tag Manager",
    steps: ["Add a tag of type “Custom HTML” and paste this.", "Trigger it on all pages, then publish."],
    // Its parser runs scripts differently, which hides the tag from them.
    snippet: (baseUrl, token) =>
      `<script>\n  var script = document.createElement("script");\n  script.src = "${baseUrl}/widget.js";\n` +
      `  script.dataset.token = "${token}";\n  script.async = true;\n  document.body.append(script);\n</script>`,
  },
  {
    name: "React, Next.js, Vue …",
    steps: ["Load the script once, in the layout of all pages.", "Then use the element anywhere."],
    snippet: element,
  },
];

/**
 * Whether visitors of websites can use this server's address. `loopback`: only this machine reaches it. `plain`:
 * pages with https load nothing from it. Null: nothing is wrong.
 */
export function judgeAddress(baseUrl: string): "loopback" | "plain" | null {
  const { hostname, protocol } = new URL(baseUrl);
  if (/^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return "loopback";
  return protocol === "https:" ? null : "plain";
}
