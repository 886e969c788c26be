/** One page at a time, its code loaded when it is first shown. */
import { Component, type ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { currentPath, homePath, type PageComponent, type Params } from "./lib/router.ts";
import { session } from "./lib/session.ts";
import type { Route } from "./routes.ts";
import { Button, ButtonLink } from "./ui/button.tsx";
import { PageHead } from "./ui/page.tsx";
import { Empty, Skeleton } from "./ui/states.tsx";

const loaded = new Map<Route, PageComponent>();

export function Outlet({ found }: { found: { route: Route; params: Params } | null }) {
  const route = found?.route;
  const [, redraw] = useState(0);
  const [failed, setFailed] = useState<Route | null>(null);

  useEffect(() => {
    if (!route || loaded.has(route)) return;
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
  const Page = loaded.get(route);
  if (!Page) return <Skeleton class="mx-auto max-w-3xl p-6" />;
  // Not the address bar's path, which differs for a moment when the person decides not to leave a page.
  return (
    <Boundary key={currentPath()}>
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
        title="There is nothing at this address"
        action={
          <ButtonLink href={homePath} kind="primary">
            To the companions
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

/** A page that fails does not block the way to the others. */
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
