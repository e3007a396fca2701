import { createInspector, type StatelyInspectionEvent } from '@statelyai/inspect';
import { expect, test } from 'vitest';
import { wizardMachine } from '../../machines/wizard.machine.ts';
import { createRecorder } from '../../src/inspector/recorder.ts';
import { activeIn, changesBetween } from '../../src/inspector/recording.ts';
import { withoutSecrets } from '../../src/inspector/sanitize.ts';

const wizard = { sessionId: 'x:0', rootId: 'x:0', createdAt: '1000', id: '1', _version: '0.7.2' };
const call = { ...wizard, sessionId: 'x:1' };
const loaded = {
  ...wizard,
  type: '@xstate.actor',
  name: 'wizard',
  definition: '{}',
  parentId: undefined,
  snapshot: {},
};

function recorded(messages: readonly object[]) {
  const recorder = createRecorder(wizardMachine);
  for (const message of messages) recorder.hear(message as StatelyInspectionEvent);
  return recorder;
}

test('what the inspector is told has no password, token, hash or signature in it, at any depth', () => {
  expect(
    withoutSecrets({
      typed: { email: 'pat@sanbruno.example', password: 'correct horse' },
      destination: { tokenId: 'ffff', imap: 'imap.mail.example' },
      input: [{ password: 'correct horse' }],
      storedToken: 'stored',
      emailHash: 'hash',
      jwt: null,
      password: '',
      exports: [{ url: '/api/exports/1/a.zip?signature=abc', size: 1 }],
    }),
  ).toEqual({
    typed: { email: 'pat@sanbruno.example', password: '(hidden)' },
    destination: { tokenId: '(hidden)', imap: 'imap.mail.example' },
    input: [{ password: '(hidden)' }],
    storedToken: '(hidden)',
    emailHash: '(hidden)',
    jwt: null,
    password: '',
    exports: [{ url: '/api/exports/1/a.zip?(hidden)', size: 1 }],
  });
});

test("the library's own adapter protocol is what the recorder reads", () => {
  const told: StatelyInspectionEvent[] = [];
  const inspector = createInspector({ send: (event) => void told.push(event) });
  inspector.actor('x:0', { status: 'active' });
  inspector.event('x:0', { type: 'start.press' });
  inspector.snapshot('x:0', { value: 'arriving', context: { now: 1 } });
  const { entries, moments } = recorded(told).now();
  expect(entries.map(({ words }) => words)).toEqual(['The page was loaded', 'start.press']);
  expect(moments).toEqual([{ entry: 1, active: new Set(['arriving']), context: { now: 1 } }]);
});

test('the recorder names timers and answers as the machine does, and keeps calls apart from the wizard', () => {
  const checking =
    wizardMachine.root.states['home']?.states['page']?.states['signingIn']?.states['email']?.states['checking'];
  const typing =
    wizardMachine.root.states['home']?.states['page']?.states['signingIn']?.states['email']?.states['typing'];
  const [invoke] = checking?.invoke ?? [];
  const [pause] = typing?.after ?? [];
  if (invoke === undefined || pause === undefined) throw new Error('The sign-in has neither a pause nor a call.');
  const recorder = recorded([
    loaded,
    { ...wizard, type: '@xstate.event', event: { type: pause.eventType } },
    { ...call, type: '@xstate.actor', name: invoke.id, definition: '{}', parentId: 'x:0', snapshot: {} },
    { ...call, type: '@xstate.event', event: { type: 'xstate.init', input: { email: 'pat@sanbruno.example' } } },
    { ...call, type: '@xstate.snapshot', event: {}, snapshot: { status: 'done', output: {} } },
    { ...wizard, type: '@xstate.event', event: { type: `xstate.done.actor.${invoke.id}`, output: { auth: 'other' } } },
  ]);
  expect(recorder.now().entries).toEqual([
    { number: 0, time: 1000, kind: 'load', words: 'The page was loaded', payload: {} },
    { number: 1, time: 1000, kind: 'event', words: 'after typing pause (1 s)', payload: {} },
    {
      number: 2,
      time: 1000,
      kind: 'call',
      words: 'ask for capabilities',
      payload: { input: { email: 'pat@sanbruno.example' } },
    },
    {
      number: 3,
      time: 1000,
      kind: 'answer',
      words: 'done: ask for capabilities',
      payload: { output: { auth: 'other' } },
    },
  ]);
  expect(recorder.now().moments).toEqual([]);
});

test('two pages that are open at the same time number their sessions alike, and are told apart', () => {
  const recorder = createRecorder(wizardMachine);
  const pressed = { ...wizard, type: '@xstate.event', event: { type: 'start.press' } };
  const started = { ...wizard, type: '@xstate.snapshot', event: {}, snapshot: { value: 'arriving', context: {} } };
  const asking = { ...call, type: '@xstate.actor', name: 'sign out', definition: '{}', parentId: 'x:0', snapshot: {} };
  const asked = { ...call, type: '@xstate.event', event: { type: 'xstate.init', input: {} } };
  const hear = (page: number, ...messages: readonly object[]) => {
    for (const message of messages) recorder.hear(message as StatelyInspectionEvent, page);
  };
  hear(1, loaded, asking);
  hear(2, loaded, pressed, asked);
  hear(1, asked, pressed, started);
  expect(recorder.now().entries.map(({ words }) => words)).toEqual([
    'The page was loaded',
    'The page was loaded',
    'start.press',
    'Another page goes on',
    'sign out',
    'start.press',
  ]);
  expect(recorder.now().moments.map(({ entry }) => entry)).toEqual([5]);
});

test('an answer that no state waits for has its name as well', () => {
  const [{ id } = { id: '' }] = wizardMachine.root.invoke;
  const answers = ['done', 'error'].map((end) => ({
    ...wizard,
    type: '@xstate.event',
    event: { type: `xstate.${end}.actor.${id}` },
  }));
  const { entries } = recorded([loaded, ...answers]).now();
  expect(entries.slice(1).map(({ words }) => words)).toEqual([
    'done: check the stored token',
    'failed: check the stored token',
  ]);
});

test('a state value is all the states that are active in it', () => {
  expect([...activeIn({ home: { page: 'resting', banner: 'hidden' } })]).toEqual([
    'home',
    'home.page',
    'home.page.resting',
    'home.banner',
    'home.banner.hidden',
  ]);
});

test('the changes between two contexts are named by their innermost keys', () => {
  const before = { typed: { email: '', host: '' }, source: null, transfers: [1] };
  const after = { typed: { email: 'pat', host: '' }, source: { email: 'pat' }, transfers: [1] };
  expect(changesBetween(before, after)).toEqual(['typed.email', 'source']);
});
