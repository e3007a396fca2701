import { useSelector } from '@xstate/react';
import { createContext, useContext } from 'react';
import type { ActorRefFrom } from 'xstate';
import type { wizardMachine } from '../../machines/wizard.machine.ts';
import type { WizardSnapshot } from '../../machines/wizard.routes.ts';
import type { Event } from '../../machines/wizard.types.ts';

export type WizardActor = ActorRefFrom<typeof wizardMachine>;

const WizardContext = createContext<WizardActor | null>(null);
export const WizardProvider = WizardContext.Provider;

function useActor(): WizardActor {
  const actor = useContext(WizardContext);
  if (actor === null) throw new Error('A page stands outside of WizardProvider.');
  return actor;
}

/** A part of the wizard's snapshot; the component is drawn again when that part changes. */
export function useWizard<Part>(select: (snapshot: WizardSnapshot) => Part): Part {
  return useSelector(useActor(), select);
}

export function useSend(): (event: Event) => void {
  return useActor().send;
}
