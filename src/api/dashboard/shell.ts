/** The dashboard's only HTML document, and its content security policy. */
import { readFileSync } from "node:fs";
import { embeddedAssets } from "../../web/generated/assets.ts";

interface Shell {
  html: string;
  policy: string;
}

/** The same for every address and user: all content comes from the API. `isNew`: nobody can sign in yet. */
export function renderShell(isNew: boolean): Shell {
  const [script, style] = ["dashboard.js", "dashboard.css"].map((name) =>
    embeddedAssets.find((embedded) => embedded.name === name),
  );
  if (script === undefined || style === undefined) throw new Error("The web build has no dashboard.");
  const preloads = listImports(readFileSync(script.plain, "utf8"))
    .map((path) => `<link rel="modulepreload" href="${path}">\n`)
    .join("");
  const html = `<!doctype html>
<html lang="en"${isNew ? " data-is-new" : ""}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>companiond</title>
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath d='M12 2a10 10 0 0 0-8.5 15.2L2.4 21.6l4.6-1.1A10 10 0 1 0 12 2z' fill='%234f46e5'/%3E%3Ccircle cx='8.6' cy='12' r='1.5' fill='%23fff'/%3E%3Ccircle cx='15.4' cy='12' r='1.5' fill='%23fff'/%3E%3C/svg%3E">
<link rel="apple-touch-icon" href="/apple-touch-icon.png">
<link rel="stylesheet" href="/assets/${style.fileName}">
${preloads}<script type="module" src="/assets/${script.fileName}"></script>
</head>
<body>
<div id="app"></div>
<noscript>The dashboard needs JavaScript.</noscript>
</body>
</html>
`;
  return { html, policy };
}

/** The imports that the browser would otherwise discover only after reading the script. */
function listImports(code: string): string[] {
  return [...code.matchAll(/(?:from|import)"(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Owners host their companions' avatars anywhere.
  "img-src 'self' data: https: http:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");
