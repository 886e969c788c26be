/** Addresses of the dashboard that others lead to, and what a page is given of its own. */
import type { ComponentType } from "preact";

export type Params = Record<string, string>;

export type PageComponent = ComponentType<{ params: Params }>;

export const homePath = "/app/companions";
export const signInPath = "/app/sign-in";
export const secondFactorPath = "/app/account/second-factor";
export const budgetsPath = "/app/budgets";
export const visitorKeysPath = "/app/visitor-keys";
