/** Tables of accounts, for the generator of migrations. */
import { tables } from "../tables.ts";

export const {
  accounts,
  audit,
  members,
  mailDays,
  mails,
  oneTimeLinks,
  recoveryCodes,
  serverSecrets,
  sessions,
  visitorKeys,
  voiceAgentGrants,
  webhookDeliveries,
  webhooks,
} = tables;
