const PATHS = {
  error: 'M12 3 2.5 20h19L12 3Zm0 6v5m0 3v.01',
  success: 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0ZM8 12.5l2.8 2.8L16 9.5',
  warning: 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0ZM12 7v6m0 3.5v.01',
  info: 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0ZM12 11v6m0-9.5v.01',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  close: 'm6 6 12 12M18 6 6 18',
  down: 'm6 9 6 6 6-6',
  letter: 'M3 6h18v12H3V6Zm0 .5 9 7 9-7',
  copy: 'M9 9h11v11H9V9ZM5 15H4V4h11v1',
  clock: 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0ZM12 7v5l3.5 2',
  shield: 'M12 3 4.5 6v5.5c0 4.5 3 8 7.5 9.5 4.5-1.5 7.5-5 7.5-9.5V6L12 3Zm-3 9 2.2 2.2L15.5 10',
  key: 'M13 16a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0Zm-1.3-3.2L20 4.5M16.5 8l3 3',
  at: 'M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0Zm0 0v1.5a2.5 2.5 0 0 0 5 0V12a9 9 0 1 0-4 7.5',
  calendar: 'M4 6h16v14H4V6Zm0 5h16M8 3v5m8-5v5',
  move: 'M3 7h10v10H3V7Zm13 5h5m-2.5-3 3 3-3 3',
  device: 'M4 5h16v11H4V5Zm5 15h6m-3-4v4',
  ticked: 'M4 4h16v16H4V4Zm4 8.5 2.8 2.8L16 9.5',
  running: 'M20 12a8 8 0 0 1-14 5.3M4 12a8 8 0 0 1 14-5.3M18 3v4h-4M6 21v-4h4',
} as const;
export type IconName = keyof typeof PATHS;

type Props = {
  readonly name: IconName;
  /** In px at the text's default size. */
  readonly size?: number;
  /** What the drawing says when no words beside it say the same. */
  readonly label?: string;
};

export function Icon({ name, size = 24, label }: Props) {
  // It grows with the text, as all that is measured in rem.
  const length = `${size / 18}rem`;
  return (
    <svg
      width={length}
      height={length}
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
      <path d={PATHS[name]} />
    </svg>
  );
}
