import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** As much waits for room; later lines are dropped, and counted. */
const WAITING_OCTETS = 8_000_000;
/** For the line that tells how many were dropped. */
const ROOM_TO_TELL = 100_000;
/** A pipe whose reader is slow. */
const AGAIN_MS = 100;

/**
 * Where the log is written, in order and beside everything else. What can't be written, as on a full disk, waits for the
 * next line. (pino's own destination would end the process then, and at its end try for ever.)
 * @param onLost told how many lines have been dropped once one could be written again
 */
export function openLogOutput(descriptor: number, onLost: (lines: number) => void): DestinationStream {
  const waiting: Buffer[] = [];
  let octets = 0;
  let lost = 0;
  let isWriting = false;
  const advance = (written: number) => {
    octets -= written;
    const rest = waiting[0]?.subarray(written);
    if (rest === undefined || rest.length === 0) waiting.shift();
    else waiting[0] = rest;
  };
  const tellLost = () => {
    if (lost === 0 || octets > WAITING_OCTETS - ROOM_TO_TELL) return;
    const lines = lost;
    lost = 0;
    onLost(lines);
  };
  const goOn = () => {
    const [first] = waiting;
    if (first === undefined || isWriting) return;
    isWriting = true;
    write(descriptor, first, (error, written) => {
      isWriting = false;
      if (error?.code === 'EAGAIN') setTimeout(goOn, AGAIN_MS).unref();
      if (error !== null) return;
      advance(written);
      tellLost();
      goOn();
    });
  };
  process.once('exit', () => {
    // What is being written is still written by its thread.
    if (isWriting) waiting.shift();
    try {
      for (let [first] = waiting; first !== undefined; [first] = waiting) advance(writeSync(descriptor, first));
    } catch {
      // Nobody is left to whom it could be told.
    }
  });
  return {
    write: (line) => {
      const octetsOfLine = Buffer.from(line);
      if (octets + octetsOfLine.length > WAITING_OCTETS) lost += 1;
      else {
        octets += octetsOfLine.length;
        waiting.push(octetsOfLine);
      }
      goOn();
    },
  };
}
