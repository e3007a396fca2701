import { isUtf8 } from 'node:buffer';
import { decoderOf, decodeUnlabelled, isUnlabelled } from './charsets.ts';

/**
 * One encoded word (RFC 2047 §2), up to where the next one begins. Some programs leave blanks and question marks in it.
 */
const WORD = /=\?([^?\s]+)\?(?:b\?([^?]*)|q\?((?:[^?=]|=(?!\?(?!=))|\?(?!=))*))\?=/gi;

type Word = { readonly charset: string; readonly octets: Buffer };

/** Text with its encoded words decoded. */
export function decodedWords(value: string): string {
  return replaced(value, (text) => text);
}

/** Text in which each run of encoded words is a single one in UTF-8, so that no character within it can end a name. */
export function wordsInUnicode(value: string): string {
  return replaced(value, (text) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`);
}

function replaced(value: string, render: (text: string) => string): string {
  let [done, end, words]: [string, number, Word[]] = ['', 0, []];
  const flush = () => {
    if (words.length > 0) done += render(textOf(words));
    words = [];
  };
  for (const match of value.matchAll(WORD)) {
    const between = value.slice(end, match.index);
    // Blanks between two words are no part of the text.
    if (words.length === 0 || between.trim() !== '') {
      flush();
      done += between;
    }
    words.push(wordOf(match));
    end = match.index + match[0].length;
  }
  flush();
  return done + value.slice(end);
}

function wordOf([, charset = '', base64, quoted = '']: RegExpExecArray): Word {
  const octets = base64 === undefined ? quotedOctets(quoted) : Buffer.from(base64, 'base64');
  return { charset: charset.replace(/\*.*/, '').toLowerCase(), octets };
}

/** Decodes the Q encoding. Some programs leave letters as they are, in UTF-8. */
function quotedOctets(quoted: string): Buffer {
  const signs = Buffer.from(quoted.replaceAll('_', ' ')).toString('latin1');
  return Buffer.from(escapesDecoded(signs, /=([0-9a-f]{2})/gi), 'latin1');
}

/** Decodes words of one charset together: some programs split characters between two of them. */
function textOf(words: readonly Word[]): string {
  let [text, at] = ['', 0];
  while (at < words.length) {
    const charset = words[at]?.charset ?? '';
    const from = at;
    while (words[at]?.charset === charset) at += 1;
    const octets = words.slice(from, at).map((word) => word.octets);
    const whole = decoded(charset, Buffer.concat(octets));
    text += whole.includes('\uFFFD') ? octets.map((each) => decoded(charset, each)).join('') : whole;
  }
  return text;
}

function decoded(charset: string, octets: Buffer): string {
  const decoder = isUnlabelled(charset) ? undefined : decoderOf(charset);
  const isNot = decoder?.encoding === 'utf-8' && !isUtf8(octets);
  return decoder === undefined || isNot ? decodeUnlabelled(octets) : decoder.decode(octets);
}

export function escapesDecoded(text: string, escapes: RegExp): string {
  return text.replaceAll(escapes, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
