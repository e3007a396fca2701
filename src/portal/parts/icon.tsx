const PATHS = {
  error: 'M12 3 2.5 20h19L12 3Zm0 6v5m0 3v.01',
  success: 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0ZM8 12.5l2.8 2.8L16 9.5',
  warning: 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0ZM12 7v6m0 3.5v.01',
  info: 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0ZM12 11v6m0-9.5v.01',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  close: 'm6 6 12 12M18 6 6 18',
  down: 'm6 9 6 6 6-6',
  clock: 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0ZM12 7v5l3.5 2',
  shield: 'M12 3 4.5 6v5.5c0 4.5 3 8 7.5 9.5 4.5-1.5 7.5-5 7.5-9.5V6L12 3Zm-3 9 2.2 2.2L15.5 10',
  key: 'M13 16a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0Zm-1.3-3.2L20 4.5M16.5 8l3 3',
} as const;
/** One that every page has, or a drawing of a page's own: see `drawings.ts`. */
export type IconName = keyof typeof PATHS | Drawing;
/** The path of an SVG of 24 × 24. */
export type Drawing = `M${string}`;

type Props = {
  readonly name: IconName;
  /** In px at the text's default size. */
  readonly size?: number;
  /** The alternative text; omitted if the text next to the icon says the same. */
  readonly label?: string;
};

export function Icon({ name, size = 24, label }: Props) {
  // It grows with the text, as all that is measured in rem. WebKit takes no rem in the attributes of an SVG.
  const length = `${size / 18}rem`;
  return (
    <svg
      style={{ width: length, height: length }}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
      role={label === undefined ? undefined : 'img'}
      aria-label={label}
      aria-hidden={label === undefined || undefined}
    >
      <path d={PATHS[name as keyof typeof PATHS] ?? name} />
    </svg>
  );
}
