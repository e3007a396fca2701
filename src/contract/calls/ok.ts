import * as v from 'valibot';

export const Ok = v.object({ ok: v.literal(true) });
