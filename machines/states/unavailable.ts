import { failedWith } from '../failure.ts';

/** The first of a call's `onError`: its state has a state `unavailable` beside it. */
export const ifUnavailable = { guard: failedWith('UNAVAILABLE'), target: 'unavailable' } as const;

/** "Try again" of the page, or the browser is online again. */
export function tryingAgain<const Next>(next: Next) {
  return { 'call.retry': next, 'connection.return': next } as const;
}

/** The server can't be reached, or is closed: another page is shown until the same read or check is repeated. */
export function unavailable<const Next>(next: Next) {
  return { tags: 'unavailable', on: tryingAgain(next) } as const;
}

/** The same while a form is filled in: Back leads to it, with what was typed. */
export function unavailableInForm<const Next, const Form>(next: Next, form: Form) {
  return { tags: 'unavailable', on: { ...tryingAgain(next), 'modal.close': form } } as const;
}

/**
 * The same for calls that change something or lead on: these are repeated only by the visitor, who may have left. Back
 * leads to the page that it stands in for.
 */
export function unavailableUntilAsked<const Next, const Page>(next: Next, page: Page) {
  return { tags: 'unavailable', on: { 'call.retry': next, 'modal.close': page } } as const;
}
