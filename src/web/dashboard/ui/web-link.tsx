/** Links to websites that others have named. */
import type { ComponentChildren } from "preact";

/** Only text where the address is of no website. */
export function WebLink({ url, children }: { url: string; children: ComponentChildren }) {
  if (!/^https?:\/\//i.test(url)) return <span class="wrap-anywhere">{children}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer" class="text-accent underline wrap-anywhere">
      {children}
    </a>
  );
}
