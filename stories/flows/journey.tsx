import { createMemoryHistory, RouterProvider } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { createActor } from 'xstate';
import { BLANK_SESSION, sessionOf } from '../../machines/wizard.context.ts';
import type { Session } from '../../machines/wizard.types.ts';
import { createWizardRouter } from '../../src/portal/router.tsx';
import { settings } from '../../src/portal/settings.ts';
import { WizardProvider } from '../../src/portal/wizard-context.tsx';
import { TODAY } from '../people.ts';
import { type Script, scriptedWizard } from '../script.ts';
import { enter } from '../stage.ts';
import { Elsewhere } from './elsewhere.tsx';

type Load = { readonly number: number; readonly path: string; readonly session: Session };
type Away = { readonly address: string; readonly session: Session };
type Props = { readonly script: Script; readonly start: string };

/**
 * The real machine in a scripted world. As in a browser, a sign-in elsewhere unloads the page, and coming back reloads
 * it.
 */
export function Journey({ script, start }: Props) {
  const [load, setLoad] = useState<Load>({ number: 1, path: start, session: BLANK_SESSION });
  const [away, setAway] = useState<Away | null>(null);
  if (away === null) return <Loaded key={load.number} load={load} script={script} onLeave={setAway} />;
  return (
    <Elsewhere
      address={away.address}
      subscriber={away.session.source?.email ?? ''}
      onReturn={(path) => {
        setLoad({ number: load.number + 1, path, session: away.session });
        setAway(null);
      }}
    />
  );
}

type LoadedProps = { readonly load: Load; readonly script: Script; readonly onLeave: (away: Away) => void };

function Loaded({ load, script, onLeave }: LoadedProps) {
  const [{ actor, router }] = useState(() => openWizard(load, script, onLeave));
  useEffect(() => {
    const leave = enter(actor);
    return () => {
      leave();
      actor.stop();
    };
  }, [actor]);
  return (
    <WizardProvider value={actor}>
      <RouterProvider router={router} />
    </WizardProvider>
  );
}

function openWizard({ path, session }: Load, script: Script, onLeave: (away: Away) => void) {
  const machine = scriptedWizard(script, (address, context) => onLeave({ address, session: sessionOf(context) }));
  const actor = createActor(machine, { input: { settings, now: TODAY, session } });
  const router = createWizardRouter(actor.start(), createMemoryHistory({ initialEntries: [path] }));
  return { actor, router };
}
