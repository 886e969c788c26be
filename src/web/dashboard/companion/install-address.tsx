/** Says beside a snippet why it would not work on a website yet, and what to do about that. */
import { useSession } from "../lib/session.ts";
import { Notice } from "../ui/states.tsx";
import { judgeAddress } from "./install-guides.ts";

export function AddressNotice() {
  const { server, account } = useSession();
  const problem = judgeAddress(server.base_url);
  if (problem === null) return null;
  return (
    <Notice class="mb-4">
      {problem === "loopback"
        ? "This snippet works on this machine alone: its address leads each visitor to their own computer. "
        : "Websites with https refuse this snippet, since its address has none. "}
      {account.role === "operator" ? (
        <>
          Let the server be reached over https, with <code class="font-mono">--domain</code> or a proxy in front of it,
          start it with <code class="font-mono">COMPANIOND_PUBLIC_URL</code> set to that address, then copy the snippet.
        </>
      ) : (
        <>
          Ask the operator of this server to set <code class="font-mono">COMPANIOND_PUBLIC_URL</code> to an address with
          https that visitors reach, then copy the snippet.
        </>
      )}
    </Notice>
  );
}
