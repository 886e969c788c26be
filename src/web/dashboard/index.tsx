/** The dashboard: starts the router, asks who is signed in, draws. */
import { render } from "preact";
import { App } from "./app.tsx";
import { startRouter } from "./lib/router.ts";
import { loadSession } from "./lib/session.ts";

startRouter();
void loadSession();

const root = document.getElementById("app");
if (root) render(<App />, root);
