/** Every setting in one place: its variable, flag, parser, default and purpose. */
import { limitSettings } from "./limit-settings.ts";
import { operationSettings } from "./operation-settings.ts";
import { providerSettings } from "./provider-settings.ts";
import { serverSettings } from "./server-settings.ts";
import type { Setting } from "./setting.ts";

export const settings = {
  ...serverSettings,
  ...providerSettings,
  ...limitSettings,
  ...operationSettings,
} satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;
export type SettingValues = { [Name in SettingName]: (typeof settings)[Name]["fallback"] };
