import { partsInWords, type Part } from './parts.ts';
import type { Spill } from './spill.ts';

/** Tells the subscriber what a destination did with values it has no field for, without naming the values. */
export function spillNotes({ moved, lost }: Spill): string[] {
  return [
    ...(moved.size === 0 ? [] : [`Now in the notes there: ${partsInWords(moved)}.`]),
    ...(lost.size === 0 ? [] : [`There is no place for these there: ${[...lost].join(', ')}.`]),
  ];
}

/** Parts that were not added to an existing contact, because it has something else there. */
export function stayNote(stays: readonly Part[]): string[] {
  return stays.length === 0 ? [] : [`Not added, because something else is there: ${partsInWords(stays)}.`];
}

/** Parts that were not added, because the destination does not tell whether somebody has changed the contact meanwhile. */
export function unsafeNote(parts: readonly Part[]): string {
  return `Not added, because that could have overwritten a change of yours: ${partsInWords(parts)}.`;
}

/** Members of a group that a destination has no place for, as they are no contacts. */
export function strangersNote(strangers: readonly string[]): string[] {
  return strangers.length === 0 ? [] : ['Some members of this group have no card, so they were left out.'];
}

/** Additions to an existing contact that the destination refused altogether. */
export function refusedNote(status: number): string {
  return `Your new address book refused to add details to this contact (${status}).`;
}

/** Additions to an existing contact at which the connection to the destination broke each time. */
export const BROKEN_OFF_FILLING = 'Your new address book broke off each time this contact was to get details.';

/** The same of a contact that was to be written. */
export const BROKEN_OFF_WRITING = 'Your new address book broke off each time it was to take this contact.';
