/** What a key's buttons lead to, loaded with the first of them. */
import type { ApiKey } from "../lib/types.ts";
import { RevokeKey, RotateKey } from "./end-key.tsx";
import { NewKey } from "./new-key.tsx";

export type AskedOfKey = { what: "revoke" | "rotate"; key: ApiKey } | { what: "create" };

interface KeyDialogProps {
  asked: AskedOfKey;
  onChanged(): Promise<void>;
  onClose(): void;
}

export function KeyDialog({ asked, onChanged, onClose }: KeyDialogProps) {
  if (asked.what === "create") return <NewKey onMade={onChanged} onClose={onClose} />;
  if (asked.what === "rotate") return <RotateKey old={asked.key} onChanged={onChanged} onClose={onClose} />;
  return <RevokeKey apiKey={asked.key} onChanged={onChanged} onClose={onClose} />;
}
