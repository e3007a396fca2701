import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createActor } from 'xstate';
import { BLANK_SESSION, sessionOf } from '../../machines/wizard.context.ts';
import { wizardMachine } from '../../machines/wizard.machine.ts';
import { stepOf } from '../../machines/wizard.routes.ts';
import { LostScriptPage } from './pages/lost-script.tsx';
import { createWizardRouter } from './router.tsx';
import { createServices } from './services.ts';
import {
  dropStoredToken,
  forgetScrolls,
  hearSignOut,
  readSession,
  readStoredToken,
  tellSignOut,
  wasSignedOut,
  writeSession,
} from './session.ts';
import { settings } from './settings.ts';
import { openStorage } from './storage.ts';
import { WizardProvider } from './wizard-context.tsx';

const services = createServices(() => actor.getSnapshot().context.jwt);
const local = openStorage('localStorage');
const tab = openStorage('sessionStorage');
const storedToken = readStoredToken(local);
/** `null` if the script that reads it can't be fetched. */
const session = await readSession(tab, wasSignedOut(tab, local)).catch(() => null);
/** Defined by `vite.config.ts`: the inspector is only part of a build for which `INSPECT` is set. */
declare const INSPECTOR_URL: string | null;
const inspect =
  INSPECTOR_URL === null ? undefined : (await import('../inspector/connect.ts')).connectInspector(INSPECTOR_URL);

const actor = createActor(
  wizardMachine.provide({
    actors: services,
    actions: {
      'leave for': (_, { address, inPlace }) => {
        if (navigator.onLine) location[inPlace === true ? 'replace' : 'assign'](address);
        // The browser's own error page would take the place of the portal.
        else queueMicrotask(() => actor.send({ type: 'connection.lose' }));
      },
      'load the page anew': () => location.reload(),
      'drop the stored token': () => dropStoredToken(local),
      'tell the other tabs': () => tellSignOut(tab, local),
    },
  }),
  {
    input: {
      settings,
      now: Date.now(),
      session: session ?? BLANK_SESSION,
      ...(storedToken === null ? {} : { storedToken }),
    },
    ...(inspect === undefined ? {} : { inspect }),
  },
);

/** From now on the wizard writes its session over the stored one. */
function start() {
  actor.subscribe((snapshot) => {
    if (snapshot.value !== 'arriving') writeSession(tab, sessionOf(snapshot.context), stepOf(snapshot));
  });
  const router = createWizardRouter(actor.start());
  forgetScrolls(tab);
  const hear = () => hearSignOut(tab, local) && actor.send({ type: 'sign-out.hear' });
  hear();
  addEventListener('storage', hear);
  addEventListener('online', () => actor.send({ type: 'connection.return' }));
  const look = () => document.visibilityState === 'visible' && actor.send({ type: 'page.look' });
  addEventListener('focus', look);
  addEventListener('visibilitychange', look);
  addEventListener('pageshow', (event) => {
    hear();
    if (event.persisted) actor.send({ type: 'page.return' });
  });
  return <RouterProvider router={router} />;
}

const place = document.querySelector('#root');
if (place === null) throw new Error('index.html has no #root.');
createRoot(place).render(
  <StrictMode>
    <WizardProvider value={actor}>{session === null ? <LostScriptPage /> : start()}</WizardProvider>
  </StrictMode>,
);
