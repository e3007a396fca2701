import type { Drawing } from './icon.tsx';

/** The icons of the pages after Home. They are kept out of `icon.tsx`, so that Home does not load them. */
export const DRAWINGS = {
  letter: 'M3 6h18v12H3V6Zm0 .5 9 7 9-7',
  at: 'M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0Zm0 0v1.5a2.5 2.5 0 0 0 5 0V12a9 9 0 1 0-4 7.5',
  calendar: 'M4 6h16v14H4V6Zm0 5h16M8 3v5m8-5v5',
  move: 'M3 7h10v10H3V7Zm13 5h5m-2.5-3 3 3-3 3',
  device: 'M4 5h16v11H4V5Zm5 15h6m-3-4v4',
  ticked: 'M4 4h16v16H4V4Zm4 8.5 2.8 2.8L16 9.5',
  running: 'M20 12a8 8 0 0 1-14 5.3M4 12a8 8 0 0 1 14-5.3M18 3v4h-4M6 21v-4h4',
} as const satisfies Record<string, Drawing>;
