/** Links within text, of the dashboard's own pages and of websites that others have named. */
import type { ComponentChildren } from "preact";

/** Beside a figure: what can be done about it. */
export function ActLink({ href, children }: { href: string; children: string }) {
  return (
    <a href={href} class="text-accent underline">
      {children}
    </a>
  );
}

/** Only text where the address is of no website. */
export function WebLink({ url, children }: { url: string; children: ComponentChildren }) {
  if (!/^https?:\/\//i.test(url)) return <span class="wrap-anywhere">{children}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer" class="text-accent underline wrap-anywhere">
      {children}
    </a>
  );
}
