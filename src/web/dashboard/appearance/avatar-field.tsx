/** The companion's picture: uploaded, from an address, or its initial. */
import { ImageUp, Trash2 } from "lucide-preact";
import { useRef, useState } from "preact/hooks";
import { call, toFailure } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { Companion } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/field.tsx";
import { Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

const accepted = "image/png,image/jpeg,image/webp";
const maxBytes = 2 * 2 ** 20;

interface AvatarFieldProps {
  companion: Companion;
  /** What the chat shows now. */
  shown: string;
  address: string;
  addressProblem: string | undefined;
  onAddress(address: string): void;
  /** A picture was uploaded or removed, which needs no saving. */
  onUploaded(companion: Companion): void;
}

export function AvatarField({ companion, shown, address, addressProblem, onAddress, onUploaded }: AvatarFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const [isLinked] = useState(address !== "");
  const path = `/api/companions/${companion.id}/avatar`;
  const change = useAction(async (file: File | null) => {
    if (file !== null && file.size > maxBytes)
      throw toFailure(path, 413, { detail: "Choose a picture of at most 2 MiB." });
    if (file !== null) onUploaded(await call("PUT", path, { body: file }));
    else {
      await call("DELETE", path);
      onUploaded(await call("GET", `/api/companions/${companion.id}`));
    }
    say(file === null ? "Picture removed." : "Picture uploaded. Visitors see it now.");
  });
  const take = (files: FileList | null | undefined) => files?.[0] && void change.run(files[0]);
  return (
    <fieldset class="space-y-3">
      <legend class="mb-1.5 font-medium">Avatar</legend>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is a shortcut; the button does the same. */}
      <div
        class={`flex items-center gap-4 rounded-2xl border border-dashed p-4 ${isOver ? "border-accent bg-tint" : "border-strong"}`}
        onDragOver={(event) => {
          event.preventDefault();
          setIsOver(true);
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setIsOver(false);
          take(event.dataTransfer?.files);
        }}
      >
        <img src={shown} alt="" class="size-14 shrink-0 rounded-full object-cover outline outline-line" />
        <div class="min-w-0 flex-1">
          <div class="flex flex-wrap gap-2">
            <input
              ref={input}
              type="file"
              hidden
              accept={accepted}
              onChange={({ currentTarget }) => {
                take(currentTarget.files);
                // So that the same file can be chosen again.
                currentTarget.value = "";
              }}
            />
            <Button icon={ImageUp} isBusy={change.isBusy} onClick={() => input.current?.click()}>
              {companion.avatar ? "Replace picture" : "Upload picture"}
            </Button>
            {companion.avatar && (
              <Button icon={Trash2} kind="ghost" disabled={change.isBusy} onClick={() => void change.run(null)}>
                Remove
              </Button>
            )}
          </div>
          <p class="mt-1.5 text-13 text-muted">Drop a PNG, JPEG or WebP here, up to 2 MiB. Square ones look best.</p>
        </div>
      </div>
      <Problem error={change.error} />
      <details open={isLinked || addressProblem !== undefined}>
        <summary class="w-fit text-13 text-accent">Use a link instead</summary>
        <TextField
          class="mt-3"
          label="Avatar image URL"
          isCode
          placeholder="https://"
          value={address}
          error={addressProblem}
          hint={
            companion.avatar ? "Replaces the uploaded picture." : "Leave empty to use the first letter on your colour."
          }
          onValue={onAddress}
        />
      </details>
    </fieldset>
  );
}
