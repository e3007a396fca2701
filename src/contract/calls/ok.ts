import * as v from 'valibot';

export const Ok = v.object({ ok: v.literal(true) });

/** The build setting `in_qa` on the wire; `True` and `1` also mean on. */
export const InQa = v.object({
  in_qa: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(8),
      v.transform((text) => ['true', 'True', '1'].includes(text)),
    ),
    'false',
  ),
});
