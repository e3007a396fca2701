import { createBrowserInspector } from '@statelyai/inspect';
import type { AnyEventObject, InspectionEvent, Observer } from 'xstate';
import { openPortalEnd } from './line.ts';
import { withoutSecrets } from './sanitize.ts';
import './connect.css';

/** Deeper than the machine's definition is. */
const DEPTH = 40;
const KEPT = 2_000;

/**
 * Puts a button on the page that opens the viewer at `url`, and answers what the wizard's actor is to be inspected by. Our own
 * viewer hears over a channel; any other, such as Stately's, over the window that the button opens.
 */
export function connectInspector(url: string): Observer<InspectionEvent> {
  const own = new URL(url, location.href).origin === location.origin;
  const inspector = createBrowserInspector({
    url,
    // A window that no press asks for is kept from opening by the browser.
    autoStart: false,
    serializationDepthLimit: DEPTH,
    sanitizeEvent: (event) => withoutSecrets(event) as AnyEventObject,
    sanitizeContext: (context) => withoutSecrets(context) as typeof context,
    // Inputs and outputs of calls are in neither of the two; and the default drops all but ten keys of an object.
    serialize: (event) => withoutSecrets(JSON.parse(JSON.stringify(event))) as typeof event,
    // The channel keeps what a viewer has missed; the adapter's own backlog would say it twice.
    ...(own ? { send: openPortalEnd(), maxDeferredEvents: 0 } : { maxDeferredEvents: KEPT }),
  });
  document.body.append(button(() => inspector.start()));
  return inspector.inspect;
}

function button(open: () => void): HTMLElement {
  const element = document.createElement('button');
  element.className = 'inspector-button';
  element.type = 'button';
  element.textContent = 'Open the inspector';
  element.addEventListener('click', open);
  return element;
}
