/** Tables of companions, for the generator of migrations. */
import { tables } from "../tables.ts";

export const { companionAvatars, companions, voiceAgentLocks, voiceAgents, voiceOutbox, voiceSessions } = tables;
