import type { StoryObj } from '@storybook/react-vite';
import { expect, userEvent, waitFor, within } from 'storybook/test';
import type { Script } from '../script.ts';
import { Journey } from './journey.tsx';

/** What a step does with the page, in a visitor's words. */
export type Hand = {
  readonly press: (name: string) => Promise<void>;
  readonly follow: (name: string) => Promise<void>;
  readonly type: (label: string, text: string) => Promise<void>;
  readonly choose: (label: string, option: string) => Promise<void>;
  readonly tick: (label: string) => Promise<void>;
  /** Leaves the field that has the focus. */
  readonly leave: () => Promise<void>;
  readonly see: (text: string) => Promise<void>;
  readonly arriveAt: (heading: string) => Promise<void>;
};
/** Steps by their names, in order, each name once. A name has letters, digits, spaces and hyphens only, so that it can stand in a link. */
export type Steps = Readonly<Record<string, (hand: Hand) => Promise<void>>>;

const TO_THE_END = 'The end';
const PATIENCE_MS = 10_000;

/**
 * A journey through the real machine. The Interactions panel goes through its steps one by one; with `stopAfter` (a control,
 * and `&args=stopAfter:…` in a link) it plays up to there. At any point the page can be taken over by hand.
 */
export function flow(steps: Steps, script: Script = {}, start = '/'): StoryObj<{ stopAfter: string }> {
  return {
    args: { stopAfter: TO_THE_END },
    argTypes: { stopAfter: { control: 'select', options: [TO_THE_END, ...Object.keys(steps)] } },
    parameters: { controls: { disable: false } },
    render: () => <Journey script={script} start={start} />,
    play: async ({ canvasElement, step, args: { stopAfter } }) => {
      const hand = handOn(canvasElement);
      for (const [name, act] of Object.entries(steps)) {
        await step(name, () => act(hand));
        if (name === stopAfter) return;
      }
    },
  };
}

function handOn(element: HTMLElement): Hand {
  const page = within(element);
  const patience = { timeout: PATIENCE_MS };
  // Nothing of a page is hidden from the visitor but its closed options, and looking for what is costs most of the time.
  const find = (role: string, name: string) => page.findByRole(role, { name, hidden: true }, patience);
  const user = userEvent.setup({ delay: null });
  return {
    press: async (name) => {
      const button = await find('button', name);
      await waitFor(() => expect(button).toBeEnabled(), patience);
      await user.click(button);
    },
    follow: async (name) => user.click(await find('link', name)),
    type: async (label, text) => {
      const field = await page.findByLabelText(label, {}, patience);
      await user.clear(field);
      await user.type(field, text);
    },
    choose: async (label, option) => user.selectOptions(await find('combobox', label), option),
    tick: async (label) => user.click(await find('checkbox', label)),
    leave: () => user.tab(),
    see: async (text) => {
      await waitFor(() => expect(page.getAllByText(text)[0]).toBeVisible(), patience);
    },
    // Looked for anew each time: while pages fade, what was found first may be taken away again.
    arriveAt: async (name) => {
      await waitFor(() => expect(page.getByRole('heading', { level: 1, name, hidden: true })).toBeVisible(), patience);
    },
  };
}
