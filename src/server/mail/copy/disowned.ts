import { closeOthers, type Engine } from './engine.ts';
import { workOf } from './lanes/lane-work.ts';
import { storedPath } from './ledger/rows.ts';
import { notingHangUps } from './troubles/hang-ups.ts';
import { unlessInTrouble } from './troubles/troubles.ts';

/**
 * Takes back what an earlier worker stored too late and may have died before removing. What the server does not let us
 * remove stays, and is reported as duplicated.
 * @returns whether there was something that had not been taken back yet
 */
export async function takeBackDisowned(engine: Engine): Promise<boolean> {
  const { lanes, run, takenBack, destinationPaths } = engine;
  const all = new Map(
    (await run.copy.ledger.disowned()).map((each) => [`${each.uidValidity} ${each.uid} ${each.destinationPath}`, each]),
  );
  const disowned = [...all].flatMap(([key, each]) => (takenBack.has(key) ? [] : [each]));
  for (const key of all.keys()) takenBack.add(key);
  if (disowned.length === 0) return false;
  await closeOthers(engine, ['lanes']);
  const named = new Map(destinationPaths.map((path) => [storedPath(path), path]));
  await lanes.work(
    workOf([...Map.groupBy(disowned, ({ destinationPath: path }) => named.get(path) ?? path)]),
    async ([path, all], { writer, checker }) => {
      const takingBack = async () => {
        const selected = await writer.select(path);
        const uids = all.flatMap(({ uid, uidValidity }) => (uidValidity === selected.uidValidity ? [uid] : []));
        if (uids.length > 0) await writer.expunge(path, uids);
      };
      const opening = () => notingHangUps('destination', path, checker, run, takingBack);
      await unlessInTrouble(opening, 'taken back in', path, run);
    },
    () => 1,
  );
  return true;
}
