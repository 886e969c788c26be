/** Beside a figure: what can be done about it. */
export function ActLink({ href, children }: { href: string; children: string }) {
  return (
    <a href={href} class="text-accent underline">
      {children}
    </a>
  );
}
