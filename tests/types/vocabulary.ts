import { wizard } from '../../machines/wizard.setup.ts';

// Held by `tsc`: a state that misspells a word of the vocabulary does not compile. Of a delay it would: for those see
// "every delay that a state waits for is declared" in `tests/machine/coverage.test.ts`.

// @ts-expect-error a guard that is not declared
wizard.createStateConfig({ on: { 'page.back': { guard: 'the sorce is known', target: '#home' } } });
// @ts-expect-error an action that is not declared
wizard.createStateConfig({ entry: 'forget evrything' });
// @ts-expect-error an actor that is not declared
wizard.createStateConfig({ invoke: { src: 'ask for the staus' } });
// @ts-expect-error an input that the call does not take
wizard.createStateConfig({ invoke: { src: 'resolve the host', input: { host: '' } } });
// @ts-expect-error an event that nobody sends
wizard.createStateConfig({ on: { 'page.bak': '#home' } });
// @ts-expect-error a tag that is not declared
wizard.createStateConfig({ tags: 'buzy' });
// @ts-expect-error a parameter that the action does not take
wizard.createStateConfig({ entry: { type: 'remember the transfer', params: { transferId: '' } } });
