import type { StoryObj } from '@storybook/react-vite';
import { createMemoryHistory, RouterProvider } from '@tanstack/react-router';
import { useEffect } from 'react';
import { createActor } from 'xstate';
import { wizardMachine } from '../machines/wizard.machine.ts';
import { addressOf, PATHS, type WizardSnapshot } from '../machines/wizard.routes.ts';
import type { Context } from '../machines/wizard.types.ts';
import { createWizardRouter } from '../src/portal/router.tsx';
import { type WizardActor, WizardProvider } from '../src/portal/wizard-context.tsx';
import { storyIdOf, valueOf } from './leaf.ts';
import { BLANK } from './people.ts';
import { scriptedWizard } from './script.ts';
import { enter } from './stage.ts';

type Router = ReturnType<typeof createWizardRouter>;
type Scene = { readonly actor: WizardActor; readonly router: Router };

/**
 * A story of one leaf state with this context. `beside` are leaf states of parallel regions.
 * The wizard is frozen, without timers or calls, until the first interaction; then it continues from there.
 */
export function at(leaf: string, context: Partial<Context> = {}, ...beside: readonly string[]): StoryObj {
  return {
    parameters: { state: leaf },
    loaders: [
      async ({ id }) => {
        // Stories outside "States" show variants of a state that has its own story there.
        if (id.startsWith('states-') && id !== storyIdOf(leaf))
          throw new Error(`The story of ${leaf} is named ${id} instead of ${storyIdOf(leaf)}.`);
        return { scene: await sceneOf(snapshotAt([leaf, ...beside], context)) };
      },
    ],
    render: (_, { loaded }) => <Shown scene={loaded['scene'] as Scene} />,
  };
}

export function snapshotAt(leaves: readonly string[], context: Partial<Context>): WizardSnapshot {
  const snapshot = wizardMachine.resolveState({ value: valueOf(leaves), context: { ...BLANK, ...context } });
  const active = new Set(snapshot._nodes.map((node) => node.path.join('.')));
  const missed = leaves.filter((leaf) => !active.has(leaf));
  if (missed.length > 0)
    throw new Error(`The machine can't be in ${missed.join(' and ')} together with the other leaves.`);
  return snapshot;
}

async function sceneOf(snapshot: WizardSnapshot): Promise<Scene> {
  const { actor, isAwake } = sleeper(snapshot);
  // The router sends the first address to the machine, which must not wake a frozen wizard.
  const asked = {
    getSnapshot: () => actor.getSnapshot(),
    subscribe: actor.subscribe.bind(actor),
    send: (event: Parameters<WizardActor['send']>[0]) => {
      if (isAwake()) actor.send(event);
    },
  } as WizardActor;
  const router = createWizardRouter(asked, createMemoryHistory({ initialEntries: [entryOf(snapshot)] }));
  await router.load();
  return { actor, router };
}

/** An actor that stays in its state, unstarted, until the first event. */
function sleeper(snapshot: WizardSnapshot): { actor: WizardActor; isAwake: () => boolean } {
  const machine = scriptedWizard({}, () => {});
  const actor = createActor(machine, { snapshot, input: { settings: BLANK.settings, now: BLANK.now } });
  const send = actor.send.bind(actor);
  let awake = false;
  actor.send = (event) => {
    awake = true;
    actor.start();
    send(event);
  };
  return { actor, isAwake: () => awake };
}

/** The address at which the story starts. Between two pages, it is still that of the previous one. */
function entryOf(snapshot: WizardSnapshot): string {
  const address = addressOf(snapshot);
  if (address !== null) return `${address.path}?${new URLSearchParams(address.query).toString()}`;
  if (snapshot.matches('leavingForAct')) return PATHS.status;
  if (snapshot.matches('checkingTerms')) return PATHS.returned;
  return snapshot.matches('leavingForMove') || snapshot.matches('leavingForTransfer') ? PATHS.destination : PATHS.home;
}

export function Shown({ scene: { actor, router } }: { readonly scene: Scene }) {
  useEffect(() => enter(actor), [actor]);
  return (
    <WizardProvider value={actor}>
      <RouterProvider router={router} />
    </WizardProvider>
  );
}
