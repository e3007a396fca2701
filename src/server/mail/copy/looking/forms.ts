import { setImmediate as turn } from 'node:timers/promises';
import { Stopped } from '../../../stopped.ts';
import type { Listed } from '../../imap/streams.ts';
import { Alike } from '../message/alike.ts';
import { portraits, type Portrait } from '../message/digest.ts';
import { isProvidersForm } from '../message/norm.ts';
import type { Run } from '../run/run.ts';
import { fetchReadable, isReadable, type Place } from '../troubles/breaks.ts';
import { ABOUT_OCTETS, inParts } from './looking.ts';
import {
  AS_LISTED,
  byDate,
  byDateAndSize,
  storedFirst,
  uidsOf,
  type Found,
  type Likeness,
  type Matching,
  type Wanted,
} from './wanted.ts';

/**
 * What was asked for in vain, `unsent` and `unshown`; what the source has, or can't be asked for, and did not hand out,
 * `uncompared`; and what is stored and matches nothing, `unfit`.
 */
type Unmatched = Record<'unshown' | 'unfit', readonly Listed[]> & {
  readonly unsent: readonly number[];
  readonly uncompared: readonly Wanted[];
};

/** Matches the rest by form, or by date and size if the source has lost it. */
export async function matchForms(
  open: readonly Wanted[],
  left: readonly Listed[],
  matching: Matching,
): Promise<Unmatched> {
  const { source, destination, run, gone, areStored } = matching;
  const stored = new Set(await portraitsIn(destination, uidsOf(left), run, AS_LISTED));
  const shown = new Set(uidsOf(stored));
  const there = open.filter(({ uid }) => !gone.has(uid));
  const readable = source === null ? [] : uidsOf(there).filter((uid) => isReadable(source, uid, run));
  const sent = source === null ? [] : await portraitsIn(source, readable, run);
  const dates = new Map(open.map(({ uid, date }) => [uid, date]));
  const forms = { sent: storedFirst(sent, areStored), stored, dates, matching, others: () => takeTurns(run) };
  // The source may not have handed these out before.
  await matchSent(forms, 'stored', ({ sha256 }, date) => `${sha256} ${date}`);
  await matchSent(forms, 'stored', ({ sha256 }) => sha256);
  await matchSent(forms, 'kept', ({ form }, date) => `${form.body} ${date}`, isKept);
  await matchSent(forms, 'kept', ({ form }) => form.body, isKept);
  const mayBe = (one: Portrait, other: Portrait) => isSameId(one, other) || areStored(one.uid);
  await matchSent(forms, 'changed', ({ form }, date) => `${form.messageId} ${date}`, mayBe);
  // The server has said that it is there, and may keep no dates. Without a Message-ID, any other could be taken for it.
  const isSaid = (one: Portrait, other: Portrait) => areStored(one.uid) && isSameId(one, other);
  await matchSent(forms, 'changed', ({ form }) => form.messageId, isSaid);
  const lost = open.filter(({ uid }) => source === null || gone.has(uid));
  await matchLost(forms, lost, byDateAndSize);
  await matchLost(forms, lost.filter(isUnsure), byDate, isAbout);
  const seen = new Set(uidsOf(sent));
  const unclaimed = new Set(uidsOf(stored));
  return {
    unsent: readable.filter((uid) => !seen.has(uid)),
    uncompared: there.filter(({ uid }) => !seen.has(uid)),
    unshown: left.filter(({ uid }) => !shown.has(uid)),
    unfit: left.filter(({ uid }) => unclaimed.has(uid)),
  };
}

async function portraitsIn(
  place: Place,
  uids: readonly number[],
  run: Run,
  how?: typeof AS_LISTED,
): Promise<readonly Portrait[]> {
  const all: Portrait[] = [];
  for (const part of inParts(uids))
    for await (const portrait of portraits(fetchReadable(place, part, run, how))) all.push(portrait);
  return all;
}

/** Portraits of both sides: those that are matched are taken out of `stored`. `dates`: of those sent, by UID. */
type Forms = {
  readonly sent: readonly Portrait[];
  readonly stored: Set<Portrait>;
  readonly dates: ReadonlyMap<number, number | null>;
  readonly matching: Matching;
  /** Lets other work of this process go on. */
  readonly others: () => Promise<void>;
};

async function matchSent(
  { sent, stored, dates, matching: { found }, others }: Forms,
  fate: Found['fate'],
  likeness: (portrait: Portrait, date: number | null) => string,
  fits: (sent: Portrait, stored: Portrait) => boolean = () => true,
): Promise<void> {
  const alike = new Alike(stored, (portrait) => likeness(portrait, portrait.date));
  for (const portrait of sent) {
    if (found.has(portrait.uid)) continue;
    const date = dates.get(portrait.uid) ?? null;
    const one = await alike.find(likeness(portrait, date), (each) => fits(portrait, each), others);
    if (one === undefined) continue;
    stored.delete(one);
    const { size, sha256 } = portrait;
    const hasDate = date === null || date === one.date;
    found.set(portrait.uid, { fate, destinationUid: one.uid, size, sha256, isRead: true, hasDate });
  }
}

/** Matches messages that the source does not have, or can't be asked for. */
async function matchLost(
  { stored, matching: { found }, others }: Forms,
  lost: readonly Wanted[],
  likeness: Likeness,
  fits: (message: Wanted, stored: Portrait) => boolean = () => true,
): Promise<void> {
  const alike = new Alike(stored, likeness);
  for (const message of lost) {
    if (found.has(message.uid)) continue;
    const one = await alike.find(likeness(message), (each) => fits(message, each), others);
    if (one === undefined) continue;
    stored.delete(one);
    const { uid: destinationUid, size } = one;
    const digest = size === message.size ? { sha256: one.sha256 } : {};
    found.set(message.uid, { fate: 'stored', destinationUid, size, ...digest, isRead: true, hasDate: true });
  }
}

/** @throws {Stopped} */
async function takeTurns({ copy }: Run): Promise<void> {
  if (copy.signal.aborted) throw new Stopped('The copy was asked to stop.');
  await turn();
}

function isUnsure({ sha256, date }: Wanted): boolean {
  return sha256 === undefined && date !== null;
}

function isAbout({ size }: Wanted, stored: Portrait): boolean {
  return Math.abs(stored.size - size) <= ABOUT_OCTETS;
}

function isKept(sent: Portrait, stored: Portrait): boolean {
  return isProvidersForm(sent.form, stored.form);
}

function isSameId(one: Portrait, other: Portrait): boolean {
  return one.form.messageId !== '' && one.form.messageId === other.form.messageId;
}
