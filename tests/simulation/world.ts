import { digestOf, SimulatedAccount } from './account.ts';
import { chanceOf, type Chance } from './chance.ts';
import { openDatabase, type SimulatedDatabase } from './database.ts';
import { emptyLoad } from './imap-server/server-load.ts';
import { serve } from './imap-server/serve.ts';
import { equalised, leaveGaps, oddly, ownAmong } from './odd-mail.ts';
import { LedgerTables } from './ledger-tables.ts';
import { lettersOf } from './letters.ts';
import type { Host } from './network.ts';
import { quirksOf, type Scenario, type Side } from './scenario.ts';
import { EPOCH, openScheduler, type Scheduler } from './scheduler.ts';
import { perform } from './subscriber.ts';

/** All that a simulated worker can reach. */
export type World = {
  readonly scenario: Scenario;
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly accounts: Readonly<Record<Side, SimulatedAccount>>;
  readonly hosts: Readonly<Record<Side, Host>>;
  readonly database: SimulatedDatabase;
  readonly tables: LedgerTables;
  /** Messages that workers told the operator of: stored after their lease was lost, and not taken back. */
  readonly orphans: { count: number };
  /** Where a worker had more connections than the account allows. */
  readonly crowded: Set<string>;
  /** Where a worker asked for something within a pause that the server had asked it for. */
  readonly impatient: Set<string>;
  /** Workers that were killed so soon after they had thawed that they could not take anything back, and when they thawed. */
  readonly cutShort: Map<string, number>;
};

export function openWorld(scenario: Scenario, options: { readonly keepsTrace: boolean }): World {
  const scheduler = openScheduler(options);
  const chance = chanceOf(scenario.seed);
  const { mail } = scenario;
  const mailChance = chanceOf(scenario.seed + 7);
  const odd = new Map(
    [...lettersIn(scenario, chance.fork())].map(([name, all]) => [
      name,
      all.map((letter) => oddly(letter, mail, mailChance)),
    ]),
  );
  const letters = equalised(odd, mail, mailChance);
  const digests = [...letters.values()].flat().map(({ octets }) => digestOf(octets));
  const accountOf = (side: Side) =>
    new SimulatedAccount(quirksOf(scenario, side, digests), () => EPOCH + scheduler.now());
  const source = accountOf('source');
  const destination = accountOf('destination');
  for (const { name, specialUse } of scenario.folders) {
    const folder = source.find(name) ?? source.create(name, specialUse);
    source.store(folder, letters.get(name) ?? [], 'before');
  }
  const own = chance.fork();
  for (const { name, letters, specialUse } of scenario.own)
    destination.store(
      destination.find(name) ?? destination.create(name, specialUse),
      lettersOf(own, letters, `own.${name}`),
      'before',
    );
  const owned = ownAmong([...letters.values()].flat(), mail, mailChance);
  if (owned.length > 0) destination.store(destination.find('INBOX') ?? destination.create('INBOX'), owned, 'before');
  if (mail.gaps === true) for (const account of [source, destination]) leaveGaps(account, mailChance);
  const impatient = new Set<string>();
  const hostOf = (side: Side, account: SimulatedAccount): Host => {
    const load = emptyLoad();
    const quirksChance = chance.fork();
    const deedsChance = chance.fork();
    load.onImpatience = (client) => impatient.add(`${client} does not wait at the ${side}`);
    const deeds = scenario.deeds.filter((deed) => deed.side === side);
    load.onCommand = (count) => {
      for (const deed of deeds)
        if (deed.atCommand === count) {
          scheduler.note(`at the ${side} somebody ${deed.does}`);
          perform(deed, account, deedsChance);
        }
    };
    return {
      name: side,
      accept: (peer) => serve(peer, account, load, scheduler, quirksChance),
      weather: scenario.weather,
      faults: scenario.links.filter((fault) => fault.side === side),
      connections: 0,
    };
  };
  return {
    scenario,
    scheduler,
    chance,
    accounts: { source, destination },
    hosts: { source: hostOf('source', source), destination: hostOf('destination', destination) },
    database: openDatabase(scheduler, chance.fork(), scenario.database),
    tables: new LedgerTables(() => EPOCH + scheduler.now()),
    orphans: { count: 0 },
    crowded: new Set(),
    impatient,
    cutShort: new Map(),
  };
}

function lettersIn(scenario: Scenario, chance: Chance) {
  return new Map(scenario.folders.map(({ name, letters }) => [name, lettersOf(chance.fork(), letters, name)]));
}
