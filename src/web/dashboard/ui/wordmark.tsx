/** The product's name with its logo. */

export function Wordmark() {
  return (
    <span class="inline-flex items-center gap-2.5 text-16 font-semibold tracking-tight">
      <svg width="24" height="24" viewBox="0 0 24 24" aria-hidden="true">
        <path d="M12 2a10 10 0 0 0-8.5 15.2L2.4 21.6l4.6-1.1A10 10 0 1 0 12 2z" class="fill-accent" />
        <circle cx="8.6" cy="12" r="1.5" class="fill-on-accent" />
        <circle cx="15.4" cy="12" r="1.5" class="fill-on-accent" />
      </svg>
      companiond
    </span>
  );
}
