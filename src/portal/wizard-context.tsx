import { useSelector } from '@xstate/react';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { ActorRefFrom } from 'xstate';
import type { wizardMachine } from '../../machines/wizard.machine.ts';
import { type Page, pageOf, type WizardSnapshot } from '../../machines/wizard.routes.ts';
import type { Event } from '../../machines/wizard.types.ts';

export type WizardActor = ActorRefFrom<typeof wizardMachine>;

/** What a page needs of it. */
type Wizard = Pick<WizardActor, 'getSnapshot' | 'subscribe' | 'send'>;

const WizardContext = createContext<Wizard | null>(null);
export const WizardProvider = WizardContext.Provider;

function useActor(): Wizard {
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

/** The wizard as it stands at a page; when it has gone on to another one, as it last stood there. */
function wizardAt(page: Page, actor: Wizard): Wizard {
  let last = actor.getSnapshot();
  const getSnapshot = () => {
    const now = actor.getSnapshot();
    if (pageOf(now) === page) last = now;
    return last;
  };
  return { getSnapshot, subscribe: actor.subscribe.bind(actor), send: actor.send.bind(actor) };
}

/** A page stays as it was until the next one is there, which the wizard may have gone on to already. */
export function Standing({ page, children }: { readonly page: Page; readonly children: ReactNode }) {
  const actor = useActor();
  const standing = useMemo(() => wizardAt(page, actor), [page, actor]);
  return <WizardProvider value={standing}>{children}</WizardProvider>;
}
