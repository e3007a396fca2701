import { createBrowserInspector } from '@statelyai/inspect';
import type { AnyEventObject, InspectionEvent, Observer } from 'xstate';
import { openPortalEnd } from './line.ts';
import { withoutSecrets } from './sanitize.ts';
import './connect.css';

/** More than the depth of the machine's definition. */
const DEPTH = 40;
const KEPT = 2_000;

/**
 * Adds a button to the page that opens the viewer at `url`, and returns the observer for the wizard's actor. Our own
 * viewer listens on a channel; any other, such as Stately's, gets messages through the window that the button opens.
 */
export function connectInspector(url: string): Observer<InspectionEvent> {
  const own = new URL(url, location.href).origin === location.origin;
  const inspector = createBrowserInspector({
    url,
    // Browsers block windows that don't open in response to a click.
    autoStart: false,
    serializationDepthLimit: DEPTH,
    sanitizeEvent: (event) => withoutSecrets(event) as AnyEventObject,
    sanitizeContext: (context) => withoutSecrets(context) as typeof context,
    // The two above miss the inputs and outputs of calls, and the default serializer keeps only ten keys of an object.
    serialize: (event) => withoutSecrets(JSON.parse(JSON.stringify(event))) as typeof event,
    // The channel keeps what a viewer has missed; the adapter's own backlog would repeat it.
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
