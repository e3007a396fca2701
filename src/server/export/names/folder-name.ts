import { clashKey, safeName } from './safe-name.ts';

/**
 * In UTF-16 units: with the longest file name, a path stays below Windows' 260, with some 70 left for where it is
 * unpacked.
 */
const SEGMENT_LENGTH = 40;
const FOLDER_LENGTH = 80;
/** Endings reserved for the export's own files. */
const OWN_ENDING = /\.(?:eml|mbox|part\d+)$/i;

/**
 * The folder in the archive for a mailbox, parts joined by `/`: readable, safe everywhere, and different from every
 * folder whose `clashKey` is in `taken`.
 */
export function folderName(path: string, delimiter: string, taken: ReadonlySet<string>): string {
  const parts = (delimiter === '' ? [path] : path.split(delimiter)).map(segment);
  const folder = parts.join('/').length <= FOLDER_LENGTH ? parts : shortened(parts);
  const nameOf = (twin: number) =>
    [...folder.slice(0, -1), `${folder.at(-1)}${twin === 1 ? '' : ` (${twin})`}`].join('/');
  return nameOf(firstFree((twin) => taken.has(clashKey(nameOf(twin)))));
}

/** A free number that follows a taken one. Even if thousands are taken, only a few are tried. */
function firstFree(isTaken: (twin: number) => boolean): number {
  let [below, free] = [0, 1];
  while (isTaken(free)) [below, free] = [free, 2 * free];
  while (free - below > 1) {
    const middle = Math.floor((below + free) / 2);
    if (isTaken(middle)) below = middle;
    else free = middle;
  }
  return free;
}

function segment(text: string): string {
  const name = safeName(text, SEGMENT_LENGTH - 1) || '_';
  return OWN_ENDING.test(name) ? `${name}_` : name;
}

/** A path too deep for Windows keeps its first and last names; the manifest has the whole path. */
function shortened(parts: readonly string[]): string[] {
  return [parts[0] ?? '_', '~', parts.at(-1) ?? '_'];
}
