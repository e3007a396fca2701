import { scenarioOf } from './scenario.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';

/** Failures that are told before the rest is only counted. */
const TOLD = 5;

/** What the simulation has found and the engine does since. */
export const FOUND: ReadonlyMap<number, string> = new Map([
  [452, 'a mailbox of the destination that can not be read back any more is not told as completed'],
  [719, 'a message that was moved out of a mailbox which got another UIDVALIDITY is not copied again'],
  [944, 'a mailbox that gets another name is known again where a server rounds the sizes that it lists'],
  [2212, 'twins are known when the UIDVALIDITY changes while the mailbox is selected'],
  [2403, 'a message that the source withholds, and lists now and then, is not taken for deleted'],
  [2409, 'a message whose flags and date were refused for a moment is not stored without them'],
  [2599, 'what is stored after the lease was lost, where no UIDs are said, is told to the operator'],
  [4290, 'a folder whose lane is closed, as the server allows fewer connections, is taken by another lane'],
  [4314, 'what was stored after the lease was lost is taken back though the server lets nobody in at first'],
  [6184, 'what was stored without its UID being said is found though its mailbox gets another UIDVALIDITY'],
  [10_900, "a message that was moved away in the provider's own form is not lost"],
  [12_613, 'what reads back once all is copied leaves room for a control that is still being closed'],
  [14_092, 'UIDs of a source mailbox that got another UIDVALIDITY are not asked for'],
  [14_671, 'what is found anew needs no more connections than the server allows'],
  [15_992, 'a mailbox that could not be opened for a moment is not one from which all was removed'],
  [16_503, 'what was stored after the lease was lost is taken back though the database is gone at first'],
  [23_105, 'what was stored after a backup is known though a connection ends between two looks at the mailbox'],
  [26_590, 'what a source that was renumbered does not hand out for a moment is not copied again'],
  [29_117, 'what came without its UID is not lost because the source does not hand it out for a moment'],
  [
    30_083,
    'what a server lets go of, as it keeps one of each Message-ID, is told, also where it renumbers the mailbox',
  ],
  [32_933, 'what a destination does not hand out for a moment is not stored again after a break'],
  [40_368, 'what came without its UID, in another form, is known when its folder gets another name'],
  [43_705, 'what was under way when a worker died is known when its folder gets another name'],
  [46_375, 'what was stored under the next UIDVALIDITY is read back, also where a column can not hold the name'],
  [63_823, 'a mailbox is found anew under its new UIDVALIDITY though its folder gets another name just then'],
  [751, 'a message on its way is known in a mailbox that the subscriber gives another name meanwhile'],
  [850, 'what a mailbox took along under its other name is known though it can not be read'],
  [1653, 'a server that ends connections often does not make messages of another form unreadable'],
  [1913, 'a message at which the source hangs up is left out by what looks for the others, too'],
  [3382, 'a message at which the destination hangs up is not stored a second time'],
  [4801, 'a message that was refused at times is looked at alone before it is given up'],
  [11_102, 'a mailbox that a list leaves out when it has got another UIDVALIDITY is copied'],
  [14_205, 'a mailbox that gets another name between the list and its opening is copied'],
  [17_555, 'what was stored after a backup is known though a server says goodbye after some commands'],
  [16_768, 'trouble with a mailbox whose name no column can hold comes to an end'],
  [18_615, 'a name that no column can hold, used anew, is not taken for the mailbox that had it'],
  [26_890, 'a message is not left out because its server ends connections after some commands'],
  [30_886, 'a mailbox that can not be opened is told by a second order as well'],
  [34_974, 'a message at which the source says NO and goodbye is left out though it is asked for alone'],
  [44_100, 'a server that says goodbye after some commands does not make messages unreadable'],
  [54_186, 'what had just arrived when the source closed its mailbox is not told as duplicated'],
  [54_438, 'what was on its way is known by its date where the source rounds sizes and the folder is renamed twice'],
  [70_706, "what a destination refuses to show a second time, in the provider's own form, is not told as lost"],
  [94_726, 'what the source hands out only when it is asked again is not told as kept in another form'],
  [114_372, 'answers that come after the lease was lost are heard before their connection is closed'],
  [117_451, 'what a worker died of taking back is taken back by the next one'],
  [85_495, 'a message that is deleted meanwhile does not stand for one that the source never lists'],
  [120_179, 'what was on its way to a folder is known when its name is written in small letters'],
  [127_179, 'what nobody reads any more does not keep the search for what was stored from ending'],
  [132_080, 'what was not listed is known again after its mailbox was renumbered'],
  [149_669, 'a folder that gets another name is known though its state is refused at that moment'],
  [159_632, 'a lane that gave something back, when the others had ended, opens its session anew'],
  [160_595, 'a message that comes out of its turn, when nobody reads any more, keeps nothing from coming'],
  [162_965, 'a folder that a list leaves out just when it gets another name is copied to its end'],
  [187_485, 'what was not listed when it was sent, and is not handed out there, is known by how it is listed since'],
  [500_825, 'what was stored in a mailbox that has another name, which a list leaves out, is not stored again'],
  [204_682, 'a folder that an order before could not open is missed when the list leaves it out'],
  [
    806_050,
    'what was stored without its UID is known by its digest where a list leaves out the new name of its folder',
  ],
  [813_634, 'a folder that gets another name is known though its state is refused each time, as it can be opened'],
  [820_265, 'of equal messages one that was stored is found for itself, and not for one that still waits'],
  [866_312, 'what is there in another form is not lost where the source does not hand out the original at that moment'],
  [897_582, 'a message of few octets, or none, that was stored and refused all the same is not stored again'],
  [897_633, 'what was stored in a mailbox that has another name, and is refused for a moment, is not stored again'],
  [
    5_000_162,
    'what came without its UID, in another form, is not told as lost where its source is not asked for it any more',
  ],
  [5_203_996, 'what came without its UID, and was sent with a date that its source does not tell, has that one'],
  [
    5_301_792,
    'what a server keeps with another date, and at which it hangs up each time, is known by its size, and not stored again',
  ],
  [9_100_026, 'a folder whose owner deletes mail meanwhile is not said to be done while some of it is still to come'],
  [816_311, 'what is not handed out is known by its size where no dates can be read, and not stored with each run'],
]);

/** Runs seeds one after the other. @returns each failure with what to replay it by; the first one is made smaller, too */
export async function failuresIn(from: number, to: number): Promise<string[]> {
  const failures: string[] = [];
  for (let seed = from; seed <= to; seed += 1) {
    const scenario = scenarioOf(seed);
    const { wrong } = await simulate(scenario);
    if (wrong.length === 0) continue;
    const smaller = failures.length === 0 ? `\n  at least: ${JSON.stringify(await shrink(scenario))}` : '';
    if (failures.length < TOLD)
      failures.push(
        `${wrong.slice(0, 3).join('; ')}\n  replay: SIMULATION_SEED=${seed} npm test -- tests/simulation/simulation.test.ts${smaller}`,
      );
    else failures.push(`seed ${seed}`);
  }
  return failures;
}
