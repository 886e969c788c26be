/** How a website signs a token for a visitor, in each language without a library, and how its page hands it over. */

export interface SnippetFacts {
  companionId: string;
  keyId: string;
}

interface Language {
  name: string;
  snippet(facts: SnippetFacts): string;
}

/** Where the snippets read the secret from: it is never written into them. */
export const secretVariable = "VISITOR_KEY_SECRET";
/** The path of the private key, for keys of which this server knows the public half alone. */
export const privateKeyVariable = "VISITOR_KEY_FILE";
/** The address that the snippet of the page asks; the website may choose another. */
export const tokenPath = "/visitor-token";

const warning = "The user is the visitor who is signed in to your own session, never a name that the browser sends.";

/** For keys with a secret. */
export const languages: readonly Language[] = [
  {
    name: "Node.js",
    snippet: (facts) =>
      nodeSnippet(
        facts,
        "HS256",
        'import { createHmac } from "node:crypto";',
        `createHmac("sha256", process.env.${secretVariable}).update(content).digest("base64url")`,
      ),
  },
  {
    name: "PHP",
    snippet: ({ companionId, keyId }) => `<?php
// ${warning}
function sign_visitor_token(array $user): string
{
    $base64url = fn (string $bytes) => rtrim(strtr(base64_encode($bytes), "+/", "-_"), "=");
    $now = time();
    $header = ["alg" => "HS256", "typ" => "JWT", "kid" => "${keyId}"];
    $claims = [
        "aud" => "${companionId}",
        "sub" => (string) $user["id"],
        "name" => $user["name"],
        "email" => $user["email"],
        "iat" => $now,
        "exp" => $now + 3600,
    ];
    $content = $base64url(json_encode($header)) . "." . $base64url(json_encode($claims));
    return $content . "." . $base64url(hash_hmac("sha256", $content, getenv("${secretVariable}"), true));
}

// session_start();
// isset($_SESSION["user"]) ? print(sign_visitor_token($_SESSION["user"])) : http_response_code(401);
`,
  },
  {
    name: "Python",
    snippet: ({ companionId, keyId }) => `import base64, hashlib, hmac, json, os, time


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


# ${warning}
def sign_visitor_token(user: dict) -> str:
    now = int(time.time())
    header = {"alg": "HS256", "typ": "JWT", "kid": "${keyId}"}
    claims = {
        "aud": "${companionId}",
        "sub": str(user["id"]),
        "name": user["name"],
        "email": user["email"],
        "iat": now,
        "exp": now + 3600,
    }
    content = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims))
    secret = os.environ["${secretVariable}"].encode()
    return content + "." + base64url(hmac.new(secret, content.encode(), hashlib.sha256).digest())


# @app.get("${tokenPath}")
# def visitor_token():
#     return sign_visitor_token(session["user"]) if "user" in session else ("", 401)
`,
  },
  {
    name: "Ruby",
    snippet: ({ companionId, keyId }) => `require "json"
require "openssl"

def base64url(bytes)
  [bytes].pack("m0").tr("+/", "-_").delete("=")
end

# ${warning}
def sign_visitor_token(user)
  now = Time.now.to_i
  header = { alg: "HS256", typ: "JWT", kid: "${keyId}" }
  claims = {
    aud: "${companionId}",
    sub: user[:id].to_s,
    name: user[:name],
    email: user[:email],
    iat: now,
    exp: now + 3600
  }
  content = [header, claims].map { |part| base64url(JSON.generate(part)) }.join(".")
  signature = OpenSSL::HMAC.digest("SHA256", ENV.fetch("${secretVariable}"), content)
  "#{content}.#{base64url(signature)}"
end

# get("${tokenPath}") { session[:user] ? sign_visitor_token(session[:user]) : halt(401) }
`,
  },
  {
    name: "Go",
    snippet: ({ companionId, keyId }) => `package visitors

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"os"
	"time"
)

// SignToken signs for a visitor. ${warning}
func SignToken(id, name, email string) (string, error) {
	now := time.Now().Unix()
	header, err := json.Marshal(map[string]any{"alg": "HS256", "typ": "JWT", "kid": "${keyId}"})
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{
		"aud":   "${companionId}",
		"sub":   id,
		"name":  name,
		"email": email,
		"iat":   now,
		"exp":   now + 3600,
	})
	if err != nil {
		return "", err
	}
	base64url := base64.RawURLEncoding.EncodeToString
	content := base64url(header) + "." + base64url(claims)
	signature := hmac.New(sha256.New, []byte(os.Getenv("${secretVariable}")))
	signature.Write([]byte(content))
	return content + "." + base64url(signature.Sum(nil)), nil
}
`,
  },
];

type PairAlgorithm = "ES256" | "EdDSA";

const pairs: Record<PairAlgorithm, { make: string; sign: string }> = {
  ES256: {
    make: '"ec", { namedCurve: "P-256" }',
    sign: 'sign("sha256", Buffer.from(content), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url")',
  },
  EdDSA: {
    make: '"ed25519"',
    sign: 'sign(null, Buffer.from(content), privateKey).toString("base64url")',
  },
};

/** For keys whose private half only the website has. */
export function pairSnippet(algorithm: PairAlgorithm, facts: SnippetFacts): string {
  return nodeSnippet(
    facts,
    algorithm,
    `import { sign } from "node:crypto";
import { readFileSync } from "node:fs";

const privateKey = readFileSync(process.env.${privateKeyVariable}, "utf8");`,
    pairs[algorithm].sign,
  );
}

/** A command that keeps the private key in a file, and prints the public one in the form to paste. */
export function pairCommand(algorithm: PairAlgorithm): string {
  return `node -e '
const { publicKey, privateKey } = crypto.generateKeyPairSync(${pairs[algorithm].make});
fs.writeFileSync("visitor-key.pem", privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
console.log(JSON.stringify(publicKey.export({ format: "jwk" })));
'`;
}

function nodeSnippet({ companionId, keyId }: SnippetFacts, algorithm: string, head: string, signature: string): string {
  return `${head}

const base64url = (part) => Buffer.from(JSON.stringify(part)).toString("base64url");

// ${warning}
export function signVisitorToken(user) {
  const now = Math.floor(Date.now() / 1000);
  const header = { alg: "${algorithm}", typ: "JWT", kid: "${keyId}" };
  const claims = {
    aud: "${companionId}",
    sub: String(user.id),
    name: user.name,
    email: user.email,
    iat: now,
    exp: now + 3600,
  };
  const content = base64url(header) + "." + base64url(claims);
  return content + "." + ${signature};
}

// app.get("${tokenPath}", ({ session }, response) =>
//   session.user ? response.send(signVisitorToken(session.user)) : response.sendStatus(401));
`;
}

/** Works wherever the two stand, and whichever comes first. */
export function pageSnippet(baseUrl: string, embedToken: string): string {
  return `<script>
  (window.companiond ??= []).push((chat) => chat.identify(async () => {
    const response = await fetch("${tokenPath}", { cache: "no-store" });
    if (response.status === 401) return null; // No one is signed in.
    if (!response.ok) throw new Error("There is no visitor token.");
    return response.text();
  }));
</script>
<script src="${baseUrl}/widget.js" data-token="${embedToken}" async></script>`;
}
