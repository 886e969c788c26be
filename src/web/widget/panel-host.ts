/** The interface between the widget's two files: what the first one passes to the panel, and what it gets back. */
import type { Fetch } from "../../reply-reader/request.ts";
import type { Connection } from "../sdk/connection.ts";
import type { TokenSource } from "../sdk/identity.ts";
import type { ConfigSource } from "./config-source.ts";
import type { launcherEnglish } from "./launcher-strings.ts";
import type { Strings } from "./strings.ts";

/** Incremented with every change here: the panel's file may be of another version than the page's script. */
export const panelVersion = 6;

export interface PanelHost {
  shadow: ShadowRoot;
  /** The panel's box, empty. */
  box: HTMLElement;
  isLauncher: boolean;
  token: string;
  baseUrl: string;
  connection: Connection;
  /** Of the dashboard: instead of the browser's. */
  fetch: Fetch | undefined;
  /** Who the page says the visitor is; null where it does not. */
  visitor: TokenSource;
  source: ConfigSource;
  /** A BCP 47 tag. */
  lang: string;
  /** With those of the launcher in full; of the others, what is not English. */
  words: Partial<Strings> & typeof launcherEnglish;
  privacyUrl: string | null;
  /** Ends with a slash. */
  assetsUrl: string;
  /** Imports a file of the widget's own version by its hash, or else the server's version of that name. */
  load<Module>(file: string, integrity: string, name: string): Promise<Module>;
  isOpen(): boolean;
  /** Shows on the launcher that so many messages of people are unread. */
  mark(count: number): void;
  /** A reply has ended: the launcher shows that, where no one sees the panel. */
  miss(): void;
  /** Closes the panel at the visitor's request. */
  shut(): void;
  emit(name: string, detail: unknown): void;
}

export interface Panel {
  draw(): void;
  /** Moves the focus to where the visitor goes on. */
  focus(): void;
  /** Sends as if the visitor had written it; resolves when the reply has ended. */
  send(text: string): Promise<void>;
  restart(): void;
  identify(visitor: TokenSource): void;
  /** Ends all that is under way. */
  close(): void;
}

export interface PanelModule {
  panelVersion: number;
  createPanel(host: PanelHost): Panel;
}
