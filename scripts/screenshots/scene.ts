/** One page or state to photograph. */
import type { Page } from "playwright-core";

export interface Scene {
  name: string;
  url: string;
  /** By the owner, else by a visitor. */
  isSignedIn: boolean;
  /** Resolves when the state is there; may act to get there. */
  ready(page: Page): Promise<unknown>;
}
