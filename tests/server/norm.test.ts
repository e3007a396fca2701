import { expect, test } from 'vitest';
import { isProvidersForm, openForm } from '../../src/server/mail/copy/message/norm.ts';

function formOf(...chunks: readonly string[]) {
  const form = openForm();
  for (const chunk of chunks) form.write(Buffer.from(chunk));
  return form.end();
}

test('a message is known by its fields, whatever their order, folding and blanks, and by its body', () => {
  const sent = formOf('Subject: a  long\r\n one\r\nTo: b\r\n\r\nbody\r\n');
  expect(isProvidersForm(sent, formOf('X-Id: 1\nTO:b\nsubject:  a long\n\tone\n\nbo', 'dy\n\n'))).toBe(true);
  expect(isProvidersForm(sent, formOf('Subject: a long one\r\n\r\nbody\r\n'))).toBe(false);
  expect(isProvidersForm(sent, formOf('Subject: a long one\r\nTo: b\r\n\r\nbodies\r\n'))).toBe(false);
});

test('messages without header fields are not taken for one another', () => {
  for (const [one, other] of [
    ['Buy milk\r\n', 'Call Ann\r\n'],
    ['Buy milk\r\n\r\nbye', 'Call Ann\r\n\r\nbye'],
    ['Subject: a\r\nBuy milk\r\n', 'Subject: a\r\nCall Ann\r\n'],
    [': milk\r\n', ': Ann\r\n'],
  ] as const) {
    expect(isProvidersForm(formOf(one), formOf(other))).toBe(false);
    expect(isProvidersForm(formOf(one), formOf(`X-Id: 1\r\n${one}`))).toBe(true);
  }
});

test('of a line that has no end no more than 1 MB is held, and the rest of it is compared as a body', () => {
  const line = 'x'.repeat(3_000_000);
  const sent = formOf(line, 'a');
  expect(isProvidersForm(sent, formOf(line.slice(7), line.slice(0, 7), 'a'))).toBe(true);
  expect(isProvidersForm(sent, formOf(line, 'b'))).toBe(false);
  expect(sent.body).not.toBe(formOf('').body);
});
