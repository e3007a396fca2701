import { dateFormat, LOCALE } from '../wording.ts';

const zone = new Intl.DateTimeFormat(LOCALE, { timeZoneName: 'short' });
const MINUTE_MS = 60_000;
/** By how many minutes clocks are set back, half an hour on Lord Howe Island and two hours in Antarctica. */
const SET_BACK = [30, 60, 120];

/** Moments by the visitor's clock. One that this clock shows twice, as it is set back, comes with its zone: `EDT`. */
export function momentFormat(options: Intl.DateTimeFormatOptions): (iso: string) => string {
  const moment = dateFormat(options);
  return (iso) => {
    const time = Date.parse(iso);
    const text = moment(time);
    const isShownAt = (minutes: number) => moment(time + minutes * MINUTE_MS) === text;
    if (!SET_BACK.some((minutes) => isShownAt(minutes) || isShownAt(-minutes))) return text;
    const name = zone.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    return `${text}\u00a0${name}`;
  };
}

export const formatMoment = momentFormat({ dateStyle: 'long', timeStyle: 'short' });
