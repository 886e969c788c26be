/** Who the playground's visitor is: an unknown one, or one whose token is pasted, or signed here. */
import { useState } from "preact/hooks";
import { useAction, useLoad } from "../lib/load.ts";
import { visitorKeysPath } from "../lib/router.ts";
import type { Companion, Page, VisitorKey } from "../lib/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { SelectField } from "../ui/select.tsx";
import { Notice } from "../ui/states.tsx";
import { canSign, readVisitorName, signVisitorToken } from "./visitor-token.ts";

interface ChooseVisitorProps {
  companion: Companion;
  /** Null: an anonymous visitor. */
  onChosen(token: string | null): void;
  onClose(): void;
}

type Mode = "sign" | "paste" | "anonymous";

const modes: readonly { value: Mode; label: string }[] = [
  { value: "sign", label: "A verified visitor: sign a token here" },
  { value: "paste", label: "A verified visitor: paste a token from your server" },
  { value: "anonymous", label: "An anonymous visitor, without a token" },
];

export function ChooseVisitor({ companion, onChosen, onClose }: ChooseVisitorProps) {
  const keys = useLoad<Page<VisitorKey>>("/api/visitor-keys?limit=1000");
  const [mode, setMode] = useState<Mode>(canSign() ? "sign" : "paste");
  const [token, setToken] = useState("");
  const [facts, setFacts] = useState({ secret: "", sub: "", name: "", email: "" });
  const [keyId, setKeyId] = useState("");
  const signing = keys.data?.data.filter(({ algorithm }) => algorithm === "HS256") ?? [];
  const tie = (field: keyof typeof facts) => ({
    value: facts[field],
    onValue: (value: string) => setFacts((before) => ({ ...before, [field]: value })),
  });
  const submit = useAction(async () => {
    if (mode === "anonymous") onChosen(null);
    else if (mode === "paste") onChosen(token.trim());
    else {
      const kid = keyId || (signing[0]?.id ?? null);
      const { secret, ...visitor } = facts;
      onChosen(await signVisitorToken({ ...visitor, secret: secret.trim(), keyId: kid, companionId: companion.id }));
    }
    onClose();
  });
  const isNoToken = token.trim() !== "" && readVisitorName(token.trim()) === null;
  const isReady =
    mode === "anonymous" ||
    (mode === "paste" ? token.trim() !== "" && !isNoToken : facts.secret !== "" && facts.sub !== "");
  return (
    <FormDialog
      title="Chat as"
      action="Start chat"
      isReady={isReady}
      submit={submit}
      class="space-y-5"
      isWide
      onClose={onClose}
    >
      <SelectField
        label="The visitor is"
        value={mode}
        onValue={(value) => setMode(value as Mode)}
        options={modes.filter(({ value }) => value !== "sign" || canSign())}
      />
      {mode === "anonymous" && companion.visitor_auth === "required" && (
        <Notice>This companion only answers verified visitors. You'll see how others are refused.</Notice>
      )}
      {mode !== "anonymous" && keys.data?.data.length === 0 && (
        <Notice>
          You have no visitor key yet, so no token is valid.{" "}
          <a href={visitorKeysPath} class="font-medium underline">
            Create one
          </a>
        </Notice>
      )}
      {mode === "paste" && (
        <TextField
          label="Token"
          isCode
          rows={5}
          value={token}
          onValue={setToken}
          placeholder="eyJ…"
          error={isNoToken ? "This isn't a visitor token." : undefined}
        />
      )}
      {mode === "sign" && (
        <>
          <div class="grid gap-5 sm:grid-cols-2">
            {signing.length > 1 && (
              <SelectField
                label="Key"
                value={keyId || (signing[0]?.id ?? "")}
                onValue={setKeyId}
                options={signing.map(({ id, name }) => ({ value: id, label: name }))}
              />
            )}
            <TextField
              label="Secret of the key"
              isCode
              {...tie("secret")}
              placeholder="vsk_…"
              hint="Used only in this browser. Never sent, never saved."
            />
          </div>
          <div class="grid gap-5 sm:grid-cols-3">
            <TextField label="ID on your website" maxLength={255} {...tie("sub")} placeholder="customer-42" />
            <TextField label="Name" maxLength={255} {...tie("name")} placeholder="Zoë" />
            <TextField label="Email" maxLength={320} {...tie("email")} placeholder="zoe@shop.example" />
          </div>
        </>
      )}
    </FormDialog>
  );
}
