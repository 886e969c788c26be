/** Every setting, by section: its variable, flag, parser, default and purpose. */
import { limitSettings } from "./limit-settings.ts";
import { accountSettings, mailSettings, operationSettings, sharedSettings } from "./operation-settings.ts";
import { knowledgeSettings, modelSettings, outgoingSettings, voiceSettings } from "./provider-settings.ts";
import { httpsSettings, serverSettings } from "./server-settings.ts";
import type { Setting } from "./setting.ts";

/** As people read them: `serve --help` and `.env.example` are made from this. */
export const settingSections = {
  Server: serverSettings,
  HTTPS: httpsSettings,
  "Language model: any OpenAI-compatible endpoint": modelSettings,
  "Voice: ElevenLabs": voiceSettings,
  Knowledge: knowledgeSettings,
  "Tools and webhooks": outgoingSettings,
  Limits: limitSettings,
  Accounts: accountSettings,
  Mail: mailSettings,
  "Several instances: PostgreSQL and Redis": sharedSettings,
  Operation: operationSettings,
} satisfies Record<string, Record<string, Setting<unknown>>>;

export const settings = {
  ...serverSettings,
  ...httpsSettings,
  ...modelSettings,
  ...voiceSettings,
  ...knowledgeSettings,
  ...outgoingSettings,
  ...limitSettings,
  ...accountSettings,
  ...mailSettings,
  ...sharedSettings,
  ...operationSettings,
};

export type SettingName = keyof typeof settings;
export type SettingValues = { [Name in SettingName]: (typeof settings)[Name]["fallback"] };

export const allSettings: readonly Setting<unknown>[] = Object.values(settings);
