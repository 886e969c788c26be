/** The dashboard: starts the router, asks who is signed in, draws. */
import { Component, type ComponentChildren, type ComponentType, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import {
  currentPath,
  heldBack,
  homePath,
  navigate,
  type PageComponent,
  type Params,
  releaseGuard,
  secondFactorPath,
  signInPath,
  startRouter,
  usePath,
} from "./lib/router.ts";
import { interruption, loadSession, mustSetUpTotp, session, sessionFailure } from "./lib/session.ts";
import { use } from "./lib/state.ts";
import { matchRoute, type Route } from "./routes.ts";
import { Button, ButtonLink } from "./ui/button.tsx";
import { lazy } from "./ui/lazy.tsx";
import { PageHead } from "./ui/page.tsx";
import { Empty, Failure, PageSkeleton } from "./ui/states.tsx";
import { Toast } from "./ui/toast.tsx";
import { Mark } from "./ui/wordmark.tsx";

const loadFrame = () => import("./frame.tsx");
const Frame = lazy(async () => (await loadFrame()).Frame);
const SetUpFrame = lazy(async () => (await import("./second-factor/set-up-frame.tsx")).SetUpFrame);

const loaded = new Map<Route, PageComponent>();

/** The whole screen: the sign-in pages, or for signed-in people the frame with a page. */
function App() {
  return (
    <>
      <Screen />
      <Toast />
      <Guard />
    </>
  );
}

/** Loaded on first use, since most visits need none of its dialogs. */
function Guard() {
  const [found, setFound] = useState<{ OverPage: ComponentType } | null>(null);
  const isLeaving = use(heldBack) !== null;
  const isInterrupted = use(interruption) !== null;
  const isWanted = isLeaving || isInterrupted;
  useEffect(() => {
    if (isWanted) import("./over-page.tsx").then(setFound, askPlainly);
  }, [isLeaving, isInterrupted]);
  return isWanted && found && <found.OverPage />;
}

/** For when that code no longer exists, as after a server upgrade: reloading would lose unsaved work. */
function askPlainly(): void {
  const leave = heldBack.value;
  if (leave === null) alert("Your session has ended. Sign in in another tab, then continue here.");
  else if (confirm("Leave without saving?")) {
    releaseGuard();
    leave();
  }
  heldBack.value = null;
}

function Screen() {
  const signedIn = use(session);
  const failure = use(sessionFailure);
  const at = usePath();
  const found = matchRoute(at);
  const isPublic = found?.route.access === "public";
  const isKnown = signedIn !== undefined;
  const target = redirectOf(at, found?.route.access, signedIn);

  useEffect(() => {
    if (target !== null) navigate(target, { replace: true });
  }, [target]);

  if (!isKnown && failure !== null) {
    return (
      <main class="mx-auto max-w-lg p-6 pt-[20vh]">
        <Failure error={failure} onRetry={() => void loadSession()} />
      </main>
    );
  }
  if (target !== null || (!isKnown && !isPublic)) return <Splash />;
  const outlet = <Outlet found={found} />;
  if (isPublic) return outlet;
  return signedIn && mustSetUpTotp(signedIn) ? <SetUpFrame>{outlet}</SetUpFrame> : <Frame>{outlet}</Frame>;
}

/** For the moment in which a browser that was not signed in before waits for the server. */
function Splash() {
  return (
    <main aria-label="Loading" class="grid min-h-dvh animate-[breathe_1.4s_ease-in-out_infinite] place-items-center">
      <Mark size={40} />
    </main>
  );
}

/** Where the address leads instead; null where it may stay. */
function redirectOf(at: string, access: string | undefined, signedIn: typeof session.value): string | null {
  if (signedIn === undefined) return null;
  if (signedIn === null) {
    if (access === "public") return null;
    const next = at === "/app" || at === homePath ? "" : `?next=${encodeURIComponent(at + location.search)}`;
    return signInPath + next;
  }
  if (mustSetUpTotp(signedIn)) return at === secondFactorPath ? null : secondFactorPath;
  if (at === "/app") return homePath;
  if (at === signInPath) return nextPath();
  return null;
}

/** Only ever a page of the dashboard, whatever the address says. */
function nextPath(): string {
  const next = URL.parse(new URLSearchParams(location.search).get("next") ?? "", location.origin);
  const isOurs = next?.origin === location.origin && /^\/app\/./.test(next.pathname);
  return isOurs ? next.pathname + next.search : homePath;
}

/** One page at a time, its code loaded when it is first shown. */
function Outlet({ found }: { found: { route: Route; params: Params } | null }) {
  const route = found?.route;
  const Page = route && loaded.get(route);
  const [, redraw] = useState(0);
  const [failed, setFailed] = useState<Route | null>(null);

  useEffect(() => {
    if (!route || Page) return;
    let isWanted = true;
    route.load().then(
      (module) => {
        loaded.set(route, module.default);
        if (isWanted) redraw((count) => count + 1);
      },
      () => isWanted && setFailed(route),
    );
    return () => {
      isWanted = false;
    };
  }, [route]);

  if (!found || !route || isForbidden(route)) return <NotFound />;
  if (failed === route) return <Outdated />;
  if (!Page) return <PageSkeleton />;
  // Not the address bar's path, which differs for a moment when the person decides not to leave a page.
  return (
    <Boundary key={route.pattern.endsWith("?") ? route.pattern : currentPath()}>
      <Page params={found.params} />
    </Boundary>
  );
}

function isForbidden({ access }: Route): boolean {
  return access === "operator" && session.value?.account.role !== "operator";
}

function NotFound() {
  return (
    <>
      <PageHead title="Page not found" />
      <Empty
        title="There's nothing here"
        action={
          <ButtonLink href={homePath} kind="primary">
            Back to companions
          </ButtonLink>
        }
      >
        It may have been moved or deleted, or it belongs to another account.
      </Empty>
    </>
  );
}

/** The server was upgraded after this page was opened, and no longer has the old files. */
function Outdated() {
  return (
    <Empty
      title="This page could not be loaded"
      action={
        <Button kind="primary" onClick={() => location.reload()}>
          Reload
        </Button>
      }
    >
      The server cannot be reached, or it has been updated since you opened the dashboard.
    </Empty>
  );
}

/** A page that fails does not block the others. */
class Boundary extends Component<{ children: ComponentChildren }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ hasFailed: true });
  }

  override render() {
    return this.state.hasFailed ? <Outdated /> : this.props.children;
  }
}

startRouter();
void loadSession();
if (session.value) {
  // Together, and not one after the other; what needs them reports if they are missing.
  for (const code of [loadFrame(), matchRoute(currentPath())?.route.load()]) code?.catch(() => {});
}

const root = document.getElementById("app");
if (root) render(<App />, root);
