import { LOCALE } from '../wording.ts';

const number = new Intl.NumberFormat(LOCALE);
export const formatNumber = (value: number) => number.format(value);
