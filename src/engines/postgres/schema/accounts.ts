/** Tables of accounts, for the generator of migrations. */
import { tables } from "../tables.ts";

export const {
  accountHoldings,
  accounts,
  apiKeys,
  audit,
  mailDays,
  mails,
  idempotency,
  members,
  oneTimeLinks,
  recoveryCodes,
  serverSecrets,
  sessions,
  visitorKeys,
  webhookDeliveries,
  webhooks,
} = tables;
