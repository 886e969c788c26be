/** The part of a companion's form that is about its voice. */
import { useSession } from "../lib/session.ts";
import { TextField } from "../ui/field.tsx";
import { SelectField } from "../ui/select.tsx";
import { Notice } from "../ui/states.tsx";
import { type SectionProps, tie } from "./draft.ts";
import { Fold } from "./fold.tsx";

const voices = [
  { value: "none", label: "Text only" },
  { value: "voice_id", label: "Voice ID – we manage the agent" },
  { value: "voice_agent_id", label: "Existing ElevenLabs agent" },
] as const;

export function VoiceSection(props: SectionProps) {
  const { draft } = props;
  const { server } = useSession();
  return (
    <Fold
      id="voice"
      title="Voice"
      summary={voices.find(({ value }) => value === draft.voice)?.label ?? ""}
      hint="Let visitors talk to your companion."
    >
      <div class="grid gap-5 sm:grid-cols-2">
        <SelectField label="Voice sessions" options={voices} {...tie(props, "voice")} />
        {draft.voice !== "none" && (
          <TextField
            label={draft.voice === "voice_id" ? "Voice ID" : "Agent ID"}
            isCode
            {...tie(props, "voice_value")}
            hint={
              draft.voice === "voice_id"
                ? "Updates automatically with the name, prompt and greeting."
                : "Used unchanged. Ask the operator for access to an agent."
            }
          />
        )}
      </div>
      {!server.has_voice_provider && draft.voice !== "none" && (
        <Notice class="mt-4">
          Voice isn't set up on this server yet. Visitors won't see a microphone until the operator adds an ElevenLabs
          key.
        </Notice>
      )}
    </Fold>
  );
}
