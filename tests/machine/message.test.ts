import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Message } from '../../src/portal/parts/message.tsx';

/** What of a message is for people: its tags, without the picture. */
function markup(kind: 'error' | 'success' | 'warning' | 'info', title?: string): string {
  const words = { kind, content: ['What to do.'], ...(title === undefined ? {} : { title }) };
  return renderToStaticMarkup(createElement(Message, words)).replace(/<svg.*<\/svg>/, '<svg/>');
}

test.each([
  ['error', 'alert'],
  ['success', 'status'],
  ['warning', 'status'],
  ['info', 'status'],
] as const)(
  'a message of the kind %s has a large form, a title and content, and a small one of a line',
  (kind, role) => {
    expect(markup(kind, 'What happened')).toBe(
      `<div class="message" data-kind="${kind}" data-size="large" role="${role}"><svg/><div><p class="message-title">What happened</p><p>What to do.</p></div></div>`,
    );
    expect(markup(kind)).toBe(
      `<div class="message" data-kind="${kind}" data-size="small" role="${role}"><svg/><div><p>What to do.</p></div></div>`,
    );
  },
);
