/** Tables of companions, for the generator of migrations. */
import { tables } from "../tables.ts";

export const {
  companionAvatars,
  companionMetadata,
  companions,
  embedTokens,
  voiceAgentGrants,
  voiceAgentLocks,
  voiceAgents,
  voiceOutbox,
  voiceSessions,
} = tables;
