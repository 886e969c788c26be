/** What is on the screen: the door for those who are not signed in, the frame with a page for those who are. */
import { useEffect } from "preact/hooks";
import { Frame } from "./frame.tsx";
import { heldBack, navigate, releaseGuard, usePath } from "./lib/router.ts";
import { loadSession, mustSetUpTotp, session, sessionFailure } from "./lib/session.ts";
import { use } from "./lib/state.ts";
import { Outlet } from "./outlet.tsx";
import { homePath, matchRoute, secondFactorPath, signInPath } from "./routes.ts";
import { SetUpFrame } from "./second-factor/set-up-frame.tsx";
import { Confirm } from "./ui/dialog.tsx";
import { Failure, Skeleton } from "./ui/states.tsx";
import { Toast } from "./ui/toast.tsx";

export function App() {
  const leave = use(heldBack);
  return (
    <>
      <Screen />
      <Toast />
      {leave && (
        <Confirm
          title="Leave without saving?"
          action="Leave"
          stay="Stay"
          onConfirm={() => {
            releaseGuard();
            leave();
          }}
          onClose={() => {
            heldBack.value = null;
          }}
        >
          <p>What you changed on this page has not been saved.</p>
        </Confirm>
      )}
    </>
  );
}

function Screen() {
  const signedIn = use(session);
  const failure = use(sessionFailure);
  const at = usePath();
  const found = matchRoute(at);
  const isDoor = found?.route.access === "public";
  const isKnown = signedIn !== undefined;
  const target = redirectOf(at, found?.route.access, signedIn);

  useEffect(() => {
    if (target !== null) navigate(target, { replace: true });
  }, [target]);

  if (failure !== null && !isKnown) {
    return (
      <main class="mx-auto max-w-lg p-6 pt-[20vh]">
        <Failure error={failure} onRetry={() => void loadSession()} />
      </main>
    );
  }
  if (target !== null || (!isKnown && !isDoor)) {
    return (
      <main class="mx-auto max-w-lg p-6 pt-[20vh]">
        <Skeleton lines={3} />
      </main>
    );
  }
  if (isDoor) return <Outlet found={found} />;
  if (signedIn && mustSetUpTotp(signedIn)) {
    return (
      <SetUpFrame>
        <Outlet found={found} />
      </SetUpFrame>
    );
  }
  return (
    <Frame>
      <Outlet found={found} />
    </Frame>
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
