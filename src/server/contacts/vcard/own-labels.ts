import { decodeQuotedPrintable } from './quoted-printable.ts';
import { labelOfTypes } from './vcard-labels.ts';
import type { VcardParam } from './vcard-params.ts';

/**
 * A label of its owner's own, for which vCard 2.1 has no place: Samsung writes `X-CUSTOM(label)`, in quoted-printable
 * if it is not plain, and Android `X-label`, which is taken for one where no other type says more. `null` if there is
 * none. `others`: the parameters without it.
 */
export function ownLabelOf(
  params: readonly VcardParam[],
): { readonly label: string; readonly others: readonly VcardParam[] } | null {
  const types = params.filter(({ name }) => name === 'TYPE').flatMap(({ values }) => values);
  const telling = types.filter((type) => labelOfTypes('phone', [type.toLowerCase()]) !== '');
  const only = telling.length === 1 ? telling[0] : undefined;
  for (const param of params) {
    const label = samsungLabelOf(param) ?? (param.values[0] === only ? androidLabelOf(param) : null) ?? '';
    if (label !== '') return { label, others: params.filter((one) => one !== param) };
  }
  return null;
}

function samsungLabelOf({ name, values }: VcardParam): string | null {
  const text = name === 'TYPE' ? values.join(',') : `${name}=${values.join(',')}`;
  const inside = /^X-CUSTOM\((.*)\)$/is.exec(text)?.[1];
  if (inside === undefined || !/(?:^|,)ENCODING=QUOTED-PRINTABLE,/i.test(inside)) return inside ?? null;
  const charset = /(?:^|,)CHARSET=([^,]*)/i.exec(inside)?.[1];
  return decodeQuotedPrintable(inside.slice(inside.lastIndexOf(',') + 1), charset);
}

function androidLabelOf({ name, values: [type = ''] }: VcardParam): string | null {
  return name === 'TYPE' ? (/^X-(.+)$/is.exec(type)?.[1] ?? null) : null;
}
