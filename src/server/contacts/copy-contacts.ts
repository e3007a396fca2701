import { compareContacts, type Compared } from './compare-contacts.ts';
import { CopyRun, type ContactCopy } from './copy-run.ts';
import { indexWith } from './listed-there.ts';

/**
 * Brings every contact of the source to the destination: those that are not there are written, those that are get what
 * they lack. What happens to each is recorded in `fates`, before and after, so that it can be stopped at any moment and
 * called again, and a second run writes nothing. Then the destination is read once more, and compared.
 * @throws {ContactStoreError} if a store refuses or is gone; what was written until then stays
 */
export async function copyContacts(copy: ContactCopy): Promise<Compared> {
  const { reader, fates, signal } = copy;
  const survey = await reader.survey(signal);
  const known = await fates.all();
  const unclear = [...known].filter(([uid, { fate }]) => fate === 'intent' && survey.uids.has(uid));
  const written = unclear.flatMap(([uid, { destinationId }]) => (destinationId === '' ? [uid] : []));
  const index = await indexWith(written, copy, survey.uids);
  const run = new CopyRun(copy, survey.total, index, survey.uids, known);
  for await (const reading of reader.contacts(signal)) {
    signal.throwIfAborted();
    if (reading.kind === 'contact') await run.contact(reading.contact, reading.id);
    else if (reading.kind === 'skipped') {
      const { id, skipped } = reading;
      await run.settle([{ uid: id, fate: 'refused', name: skipped.subject ?? '', remarks: [skipped.reason] }]);
    } else await run.group(reading.group);
  }
  await run.flush();
  await run.settleFailing();
  const compared = await compareContacts({ ...copy, expectations: run.expectations, sourceUids: survey.uids });
  run.finish();
  return compared;
}
