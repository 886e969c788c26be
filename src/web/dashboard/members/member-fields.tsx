/** What is said of a member when they are invited or changed: name, role, and the companions that they see. */
import { CompanionPicker } from "../companion/companion-picker.tsx";
import { fieldProblem } from "../lib/api.ts";
import { useCompanionNames } from "../lib/companion-names.ts";
import { useSession } from "../lib/session.ts";
import type { Member } from "../lib/types.ts";
import { CheckField, FieldError, TextField } from "../ui/field.tsx";
import { SelectField } from "../ui/select.tsx";

export interface Fields {
  name: string;
  role: Member["role"];
  companion_ids: string[] | null;
}

const roles = [
  { value: "responder", label: "Responder – reads and answers conversations" },
  { value: "owner", label: "Owner – everything you can do" },
] as const;

interface MemberFieldsProps {
  fields: Fields;
  error: unknown;
  /** No one changes their own role and companions. */
  isSelf?: boolean;
  onFields(fields: Fields): void;
}

export function MemberFields({ fields, error, isSelf = false, onFields }: MemberFieldsProps) {
  const { member } = useSession();
  const set = (part: Partial<Fields>) => onFields({ ...fields, ...part });
  const ids = fields.companion_ids;
  return (
    <>
      <TextField
        label="Name"
        required
        maxLength={60}
        value={fields.name}
        onValue={(name) => set({ name })}
        error={fieldProblem(error, "name")}
        hint="Shown to visitors above their messages."
      />
      {!isSelf && (
        <>
          <SelectField
            label="Role"
            value={fields.role}
            onValue={(role) => set({ role: role as Fields["role"] })}
            options={roles}
            error={fieldProblem(error, "role")}
          />
          <fieldset class="space-y-3">
            <legend class="mb-1.5 font-medium">Companions</legend>
            {(member?.companion_ids ?? null) === null && (
              <CheckField
                label="All, including future ones"
                checked={ids === null}
                onChecked={(isAll) => set({ companion_ids: isAll ? null : [] })}
              />
            )}
            {ids !== null && <Chosen ids={ids} onIds={(companion_ids) => set({ companion_ids })} />}
            <FieldError role="alert" class="" error={fieldProblem(error, "companion_ids")} />
          </fieldset>
        </>
      )}
    </>
  );
}

function Chosen({ ids, onIds }: { ids: readonly string[]; onIds(ids: string[]): void }) {
  const names = useCompanionNames(ids);
  return (
    <div class="space-y-2">
      {ids.map((id) => (
        <CheckField
          key={id}
          label={<span dir="auto">{names[id] ?? "A companion"}</span>}
          checked
          onChecked={() => onIds(ids.filter((one) => one !== id))}
        />
      ))}
      {/* Begins again after each choice. */}
      <CompanionPicker
        key={ids.length}
        value=""
        everyone={null}
        onValue={(id) => id !== null && !ids.includes(id) && onIds([...ids, id])}
      />
      <p class="text-13 text-muted">{ids.length === 0 ? "Choose at least one." : "Add another one above."}</p>
    </div>
  );
}
