import { partsInWords, type Part } from './parts.ts';
import type { Spill } from './spill.ts';

/** What a destination did with values that it has no field for, in words for the subscriber and without the values. */
export function spillNotes({ moved, lost }: Spill): string[] {
  return [
    ...(moved.size === 0 ? [] : [`Now in the notes there: ${partsInWords(moved)}.`]),
    ...(lost.size === 0 ? [] : [`There is no place for these there: ${[...lost].join(', ')}.`]),
  ];
}

/** Parts that stay out of a contact that was there, because something else stands in their place. */
export function stayNote(stays: readonly Part[]): string[] {
  return stays.length === 0 ? [] : [`Not added, because something else is there: ${partsInWords(stays)}.`];
}

/** What was to be added to a contact that was there, and was refused as a whole. */
export function refusedNote(status: number): string {
  return `Your new address book refused to add details to this contact (${status}).`;
}
