/** Makes visitor keys, with what the website's server needs of each, and revokes them. */
import { useState } from "preact/hooks";
import { MetadataPairs } from "../budgets/metadata-pairs.tsx";
import { call, fieldProblem } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { describeMetadata, findPairsProblem, type MetadataPair, noPairs, toMetadata } from "../lib/metadata-pairs.ts";
import type { NewVisitorKey, VisitorKey } from "../lib/types.ts";
import { Snippet } from "../ui/copy.tsx";
import { ConfirmDelete, FormDialog, ShownOnce } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { SelectField } from "../ui/select.tsx";
import { Notice } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { pairCommand, secretVariable } from "./snippets.ts";

type Algorithm = VisitorKey["algorithm"];

const algorithms: readonly { value: Algorithm; label: string }[] = [
  { value: "HS256", label: "HS256: a secret that this server makes" },
  { value: "ES256", label: "ES256: a pair of your own, on the curve P-256" },
  { value: "EdDSA", label: "EdDSA: a pair of your own, Ed25519" },
];

const reaches = [
  { value: "all", label: "All companions of this account" },
  { value: "some", label: "Companions with certain metadata" },
];

interface NewVisitorKeyProps {
  onMade(): Promise<void>;
  onClose(): void;
}

export function NewVisitorKeyDialog({ onMade, onClose }: NewVisitorKeyProps) {
  const [name, setName] = useState("");
  const [algorithm, setAlgorithm] = useState<Algorithm>("HS256");
  const [isForAll, setForAll] = useState(true);
  const [pairs, setPairs] = useState<readonly MetadataPair[]>(noPairs);
  const [pasted, setPasted] = useState("");
  const [secret, setSecret] = useState<string | null>(null);
  const found = algorithm === "HS256" || pasted.trim() === "" ? null : readPublicJwk(pasted, algorithm);
  const jwk = found !== null && "jwk" in found ? found.jwk : undefined;
  const submit = useAction(async () => {
    const metadata = isForAll ? null : toMetadata(pairs);
    const body = { name, algorithm, metadata, ...(jwk && { public_jwk: jwk }) };
    const made = await call<NewVisitorKey>("POST", "/api/visitor-keys", { body });
    if (made.secret === undefined) {
      onClose();
      say("Key created.");
    } else setSecret(made.secret);
    await onMade();
  });
  if (secret !== null) return <SecretShown secret={secret} onClose={onClose} />;
  const isFilterReady = isForAll || findPairsProblem(pairs) === undefined;
  return (
    <FormDialog
      title="New visitor key"
      action="Create key"
      isReady={name.trim() !== "" && isFilterReady && (algorithm === "HS256" || jwk !== undefined)}
      submit={submit}
      class="space-y-5"
      isWide
      onClose={onClose}
    >
      <TextField
        label="Name"
        required
        autofocus
        maxLength={100}
        value={name}
        onValue={setName}
        placeholder="Shop, 2026"
        hint="Where tokens are signed, so you'll recognize it later."
        error={fieldProblem(submit.error, "name")}
      />
      <SelectField
        label="Verifies visitors of"
        value={isForAll ? "all" : "some"}
        onValue={(value) => setForAll(value === "all")}
        options={reaches}
        hint={
          isForAll
            ? "Only for your own servers: anyone who has it can pose as any visitor of every companion, your customers' included."
            : "Such a key can be given to the customer whose companions these are. For any other companion its tokens are refused."
        }
      />
      {!isForAll && <MetadataPairs pairs={pairs} onPairs={setPairs} error={fieldProblem(submit.error, "metadata")} />}
      <SelectField
        label="Algorithm"
        value={algorithm}
        onValue={(value) => setAlgorithm(value as Algorithm)}
        options={algorithms}
        hint={
          algorithm === "HS256"
            ? "The simplest: your server signs with a secret that you copy once."
            : "Your server keeps the private key. This server never sees it, so no one who breaks in here could sign a token."
        }
        error={fieldProblem(submit.error, "algorithm")}
      />
      {algorithm !== "HS256" && (
        <>
          <div>
            <p class="mb-1.5 font-medium">Create the key pair on your server</p>
            <Snippet text={pairCommand(algorithm)} copyLabel="Copy the command" />
          </div>
          <TextField
            label="Public key, as a JWK"
            isCode
            rows={5}
            value={pasted}
            onValue={setPasted}
            placeholder='{"kty": …, "crv": …, "x": …}'
            hint="What the command prints. The private key stays in visitor-key.pem."
            error={found !== null && "problem" in found ? found.problem : fieldProblem(submit.error, "public_jwk")}
          />
        </>
      )}
    </FormDialog>
  );
}

function SecretShown({ secret, onClose }: { secret: string; onClose(): void }) {
  return (
    <ShownOnce title="Your new secret" onClose={onClose}>
      <Notice>Copy this secret now. You won't be able to see it again.</Notice>
      <Snippet text={secret} copyLabel="Copy the secret" />
      <p class="text-muted">
        Give it to your server as <code class="font-mono text-[0.92em]">{secretVariable}</code>, never to a browser:
        anyone who has it can pose as any visitor.
      </p>
    </ShownOnce>
  );
}

type PairAlgorithm = Exclude<VisitorKey["algorithm"], "HS256">;

type Found = { jwk: Record<string, string> } | { problem: string };

const curves: Record<PairAlgorithm, { kty: string; crv: string; members: readonly string[] }> = {
  ES256: { kty: "EC", crv: "P-256", members: ["kty", "crv", "x", "y"] },
  EdDSA: { kty: "OKP", crv: "Ed25519", members: ["kty", "crv", "x"] },
};

/** Members of private and symmetric keys. */
const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/**
 * Checks a pasted public key here, so that a private one never leaves the browser. The members that define the public
 * key, and no others; or what is wrong, as far as it can be checked here.
 */
function readPublicJwk(text: string, algorithm: PairAlgorithm): Found {
  if (/PRIVATE KEY/.test(text)) return { problem: privateSentence };
  let jwk: Record<string, unknown>;
  try {
    jwk = Object(JSON.parse(text));
  } catch {
    return { problem: "This isn't JSON: paste the public key as a JWK, from { to }." };
  }
  if (privateMembers.some((member) => member in jwk)) return { problem: privateSentence };
  const { kty, crv, members } = curves[algorithm];
  if (jwk.kty !== kty || jwk.crv !== crv) {
    return { problem: `For ${algorithm} the key needs "kty": "${kty}" and "crv": "${crv}".` };
  }
  const missing = members.find((member) => typeof jwk[member] !== "string");
  if (missing !== undefined) return { problem: `The key has no "${missing}": it is not whole.` };
  return { jwk: Object.fromEntries(members.map((member) => [member, String(jwk[member])])) };
}

const privateSentence =
  "This is a private key. Nothing was sent: keep it on your server alone, and paste the public half here.";

interface RevokeProps {
  visitorKey: VisitorKey;
  /** The key for the same companions that goes on, if there is one. */
  other: VisitorKey | null;
  onChanged(): Promise<void>;
  onClose(): void;
}

export function RevokeVisitorKey({ visitorKey, other, onChanged, onClose }: RevokeProps) {
  return (
    <ConfirmDelete
      title={`Revoke ${visitorKey.name}?`}
      action="Revoke"
      path={`/api/visitor-keys/${visitorKey.id}`}
      done="Revoked."
      onDone={onChanged}
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
          no one can be verified there until you create another one and your server signs with it. Companions that
          answer only verified visitors won't answer anyone.
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
    </ConfirmDelete>
  );
}
