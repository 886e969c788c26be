/** The product's name with its logo: a friendly face in a speech bubble, in two colours of its own. */

export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" class="shrink-0">
      <path d="M12 2a10 10 0 0 0-8.5 15.2L2.4 21.6l4.6-1.1A10 10 0 1 0 12 2z" fill="#5b51ee" />
      <path d="M8.6 9v1.6m6.8-1.6v1.6" stroke="#fff" stroke-width="2.6" stroke-linecap="round" />
      <path d="M8.2 14.4q3.8 3.2 7.6 0" fill="none" stroke="#ffc65c" stroke-width="2.2" stroke-linecap="round" />
    </svg>
  );
}

export function Wordmark() {
  return (
    <span class="inline-flex items-center gap-2 text-16 font-semibold tracking-tight">
      <Mark />
      <span>
        companion<span class="text-muted">d</span>
      </span>
    </span>
  );
}
