/** The confirmation before a visitor key is revoked: what happens to the visitors at once. */
import { call } from "../lib/api.ts";
import { describeMetadata } from "../lib/metadata-pairs.ts";
import type { VisitorKey } from "../lib/types.ts";
import { Confirm } from "../ui/dialog.tsx";
import { Notice } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

interface RevokeProps {
  visitorKey: VisitorKey;
  /** The key for the same companions that goes on, if there is one. */
  other: VisitorKey | null;
  onChanged(): Promise<void>;
  onClose(): void;
}

export function RevokeVisitorKey({ visitorKey, other, onChanged, onClose }: RevokeProps) {
  return (
    <Confirm
      title={`Revoke ${visitorKey.name}?`}
      action="Revoke"
      onConfirm={async () => {
        await call("DELETE", `/api/visitor-keys/${visitorKey.id}`);
        say("Revoked.");
        await onChanged();
      }}
      onClose={onClose}
    >
      <p>
        Tokens that were signed with it are refused from the next request on: visitors who still bring one get no answer
        until your website gives them a new one. This cannot be undone; their conversations stay.
      </p>
      {other === null ? (
        <Notice>
          {visitorKey.metadata === null
            ? "It is your only key for all companions. Unless another one covers a companion, "
            : `It is your only key for ${describeMetadata(visitorKey.metadata)}. Unless one for all companions is in use, `}
          nobody can be verified there until you make another one and your server signs with it, and companions that
          answer only verified visitors answer nobody.
        </Notice>
      ) : (
        <p>
          Your server must sign with{" "}
          <strong dir="auto" class="font-medium text-ink">
            {other.name}
          </strong>{" "}
          by now: that key goes on.
        </p>
      )}
    </Confirm>
  );
}
