/** A closed letter whose lower folds are San Bruno's ridge. */
export function Logo() {
  return (
    <svg width="40" height="40" viewBox="0 0 40 40" aria-hidden="true">
      <rect x="2" y="6" width="36" height="28" rx="6" fill="currentColor" />
      <path
        d="m7 29 8.5-9 4.5 4.5 3.5-4 9.5 8.5M7 11.5l11 8.5q2 1.5 4 0l11-8.5"
        fill="none"
        stroke="var(--surface)"
        strokeWidth="2.25"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
