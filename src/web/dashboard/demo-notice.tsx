/** Where no language model is configured: what answers instead, and how that changes. */

export function DemoNotice() {
  return (
    <p class="mb-6 rounded-lg bg-warn-tint px-4 py-3 text-14 text-warn">
      <strong class="font-semibold">No language model is configured.</strong> Replies come from a built-in script. Start
      the server with <code class="font-mono">OPENAI_API_KEY</code> or <code class="font-mono">OPENAI_BASE_URL</code>{" "}
      for real ones.
    </p>
  );
}
