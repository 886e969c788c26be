/** The confirmation before a key is revoked: which key it is, and what ends with it. */
import { call } from "../lib/api.ts";
import { formatDay, formatRelative } from "../lib/format.ts";
import type { ApiKey } from "../lib/types.ts";
import { Confirm } from "../ui/dialog.tsx";
import { Notice, Pending } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { EndsWithIt, KeyFacts } from "./key-facts.tsx";
import { hasEnded, type KeyLine, shortKey, useKeyLine } from "./key-line.ts";

interface RevokeKeyProps {
  apiKey: ApiKey;
  onChanged(): Promise<void>;
  onClose(): void;
}

export function RevokeKey({ apiKey, onChanged, onClose }: RevokeKeyProps) {
  const keyLine = useKeyLine(apiKey);
  const { line } = keyLine;
  const count = 1 + (line?.children.length ?? 0);
  return (
    <Confirm
      title={`Revoke ${apiKey.name} ${shortKey(apiKey)}?`}
      action={count === 1 ? "Revoke" : `Revoke ${count} keys`}
      isReady={line !== null}
      onConfirm={async () => {
        await call("DELETE", `/api/keys/${apiKey.id}`);
        say(count === 1 ? "Revoked." : `Revoked ${count} keys.`);
        await onChanged();
      }}
      onClose={onClose}
    >
      <KeyFacts apiKey={line?.key ?? apiKey} />
      {line === null ? <Pending of={keyLine} lines={2} /> : <Consequences line={line} />}
    </Confirm>
  );
}

function Consequences({ line }: { line: KeyLine }) {
  const { key, replacedBy, replaces } = line;
  return (
    <>
      {replaces !== null && (
        <Notice>
          This is the new key: it replaced <code>{shortKey(replaces)}</code>. To end the old one, revoke that.
        </Notice>
      )}
      {key.replaced_at !== null && (
        <Notice tone={replacedBy?.created_by_key_id === key.id && !hasEnded(key) ? "bad" : "good"}>
          Replaced{" "}
          {replacedBy !== null && (
            <>
              by <code>{shortKey(replacedBy)}</code>{" "}
            </>
          )}
          on {formatDay(key.replaced_at)}.
          {replacedBy?.created_by_key_id === key.id &&
            !hasEnded(key) &&
            " It has done so itself, and now the new key ends with it. If that is in use, let this one expire."}
        </Notice>
      )}
      <p>{verdict(key)}</p>
      <EndsWithIt line={line} />
    </>
  );
}

function verdict(key: ApiKey): string {
  if (hasEnded(key)) return "It has expired: revoking it takes it off this list.";
  if (key.last_used_at === null) return "It is refused from the next request on. It has never been used.";
  return `It is refused from the next request on. It was used ${formatRelative(key.last_used_at)}: what still uses it will break.`;
}
