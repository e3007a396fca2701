import type { Box } from './layout.ts';

/** The viewport: a point of the drawing is displayed at `(x, y) + scale * point`, in px of the frame. */
export type View = { readonly x: number; readonly y: number; readonly scale: number };
type Size = { readonly width: number; readonly height: number };

export const FIT: View = { x: 0, y: 0, scale: 1 };
const MARGIN = 16;
const SCALES = { least: 0.05, most: 4, asDrawn: 1, read: 0.9, stillRead: 0.6 } as const;

/** The whole drawing, centered, never enlarged. */
export function fitted(drawing: Size, frame: Size): View {
  const scale = clamped(
    Math.min((frame.width - 2 * MARGIN) / drawing.width, (frame.height - 2 * MARGIN) / drawing.height, SCALES.asDrawn),
  );
  return {
    scale,
    x: (frame.width - scale * drawing.width) / 2,
    y: Math.max(MARGIN, (frame.height - scale * drawing.height) / 2),
  };
}

/** Centers a box at a readable scale; shows the whole drawing if it is small enough. */
export function around(box: Box, drawing: Size, frame: Size): View {
  const all = fitted(drawing, frame);
  return all.scale >= SCALES.stillRead ? all : centred(box, frame, SCALES.read);
}

/** Centers a box, unless it is already in view. */
export function towards(box: Box, frame: Size, before: View): View {
  const [left, top] = [before.x + before.scale * box.x, before.y + before.scale * box.y];
  const inView =
    left >= 0 &&
    top >= 0 &&
    left + before.scale * box.width <= frame.width &&
    top + before.scale * box.height <= frame.height;
  return inView ? before : centred(box, frame, before.scale);
}

function centred({ x, y, width, height }: Box, frame: Size, scale: number): View {
  return { scale, x: frame.width / 2 - scale * (x + width / 2), y: frame.height / 2 - scale * (y + height / 2) };
}

export function moved({ x, y, scale }: View, right: number, down: number): View {
  return { x: x + right, y: y + down, scale };
}

/** Zooms around the point `at` of the frame. */
export function zoomed({ x, y, scale }: View, factor: number, at: { readonly x: number; readonly y: number }): View {
  const next = clamped(scale * factor);
  return { scale: next, x: at.x - ((at.x - x) * next) / scale, y: at.y - ((at.y - y) * next) / scale };
}

function clamped(scale: number): number {
  return Math.min(SCALES.most, Math.max(SCALES.least, scale));
}
