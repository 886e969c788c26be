/** The look of the documentation's pages. */
export const styleText = `
:root { color-scheme: light dark; --text: #1c1b22; --soft: #5b5966; --line: #dddbe4; --back: #fff; --panel: #f6f5f9;
  --accent: #4338ca; --get: #0f766e; --post: #4338ca; --patch: #9a5b00; --delete: #b42318; }
@media (prefers-color-scheme: dark) { :root { --text: #eceaf3; --soft: #a9a6b6; --line: #373544; --back: #15141b;
  --panel: #1e1d27; --accent: #a5b4fc; --get: #5eead4; --post: #a5b4fc; --patch: #fcd34d; --delete: #fda4a4; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--text); background: var(--back); }
a { color: var(--accent); }
code, pre { font: 0.875em/1.5 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
pre { margin: 0.5rem 0 1rem; padding: 0.75rem 1rem; overflow-x: auto; background: var(--panel);
  border: 1px solid var(--line); border-radius: 8px; }
.page { display: grid; grid-template-columns: minmax(0, 1fr); max-width: 78rem; margin: 0 auto; }
nav { padding: 1.5rem; border-bottom: 1px solid var(--line); }
nav ul { list-style: none; margin: 0.25rem 0 1rem; padding: 0; }
nav li { margin: 0.15rem 0; }
nav a { color: inherit; text-decoration: none; }
nav a:hover { text-decoration: underline; }
nav strong { font-size: 0.875rem; color: var(--soft); }
main { padding: 1.5rem; min-width: 0; }
@media (min-width: 60rem) {
  .page { grid-template-columns: 19rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border: 0; border-right: 1px solid var(--line); }
  main { padding: 1.5rem 2.5rem 4rem; }
}
h1 { margin-top: 0; line-height: 1.2; }
h2 { margin-top: 3rem; padding-top: 1rem; border-top: 2px solid var(--line); }
h3 { margin: 2.5rem 0 0.5rem; }
h4 { margin: 1.25rem 0 0.25rem; font-size: 0.9375rem; }
.call { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: baseline; }
.method { font: 600 0.8125rem/1 ui-monospace, monospace; }
.GET { color: var(--get); } .POST { color: var(--post); } .PATCH { color: var(--patch); } .DELETE { color: var(--delete); }
.failures { margin: 0.5rem 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem;
  font-size: 0.875rem; color: var(--soft); }
.soft { color: var(--soft); }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9375rem; }
th, td { padding: 0.4rem 0.75rem 0.4rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); font-size: 0.8125rem; }
:target { background: var(--panel); outline: 0.5rem solid var(--panel); border-radius: 2px; }
`;
