/** The interface between the widget's two files: what the first one passes to the panel, and what it gets back. */
import type { Companion } from "../sdk/index.ts";
import type { ConfigSource } from "./config-source.ts";
import type { Strings } from "./strings.ts";

/** Incremented with every change here: the panel's file may be of another version than the page's script. */
export const panelVersion = 1;

export interface PanelHost {
  shadow: ShadowRoot;
  /** The panel's box, empty. */
  box: HTMLElement;
  isLauncher: boolean;
  token: string;
  companion: Companion;
  source: ConfigSource;
  /** A BCP 47 tag. */
  lang: string;
  words: Partial<Strings>;
  privacyUrl: string | null;
  /** Ends with a slash. */
  assetsUrl: string;
  isOpen(): boolean;
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
  startAnew(): void;
  /** Ends all that is under way. */
  close(): void;
}

export interface PanelModule {
  panelVersion: number;
  createPanel(host: PanelHost): Panel;
}
