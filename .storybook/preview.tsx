import type { Preview } from '@storybook/react-vite';
import { useLayoutEffect } from 'react';
import '../src/portal/theme.css';
import { listenToPanel } from '../stories/stage.ts';
import { showTheme, type Theme } from './theme.ts';

/** The test run shows all stories twice: light at desktop width, and dark, as its second browser prefers it, on a phone. */
const underTest = '__vitest_browser__' in globalThis;
const dark = matchMedia('(prefers-color-scheme: dark)').matches;

listenToPanel();
// A test moves on within a page's fade, and the router lets the fade that is cut short fail unheard.
if (underTest && matchMedia('(prefers-reduced-motion: reduce)').matches)
  Reflect.deleteProperty(Document.prototype, 'startViewTransition');

const preview: Preview = {
  initialGlobals: {
    theme: 'system',
    ...(underTest && { viewport: { value: dark ? 'phone' : 'desktop', isRotated: false } }),
  },
  globalTypes: {
    theme: {
      description: 'Light or dark',
      toolbar: {
        icon: 'mirror',
        dynamicTitle: true,
        items: [
          { value: 'system', title: 'As the system' },
          { value: 'light', title: 'Light' },
          { value: 'dark', title: 'Dark' },
        ],
      },
    },
  },
  parameters: {
    layout: 'fullscreen',
    a11y: { test: 'error' },
    controls: { disable: true },
    backgrounds: { disable: true },
    viewport: {
      options: {
        phone: { name: 'Phone', type: 'mobile', styles: { width: '390px', height: '844px' } },
        small: { name: 'Small phone', type: 'mobile', styles: { width: '360px', height: '640px' } },
        tablet: { name: 'Tablet', type: 'tablet', styles: { width: '768px', height: '1024px' } },
        desktop: { name: 'Desktop', type: 'desktop', styles: { width: '1280px', height: '900px' } },
      },
    },
    options: {
      storySort: {
        // What opens first stands still; pages come as a visitor meets them.
        order: [
          'States',
          [
            'Home',
            'Destination',
            'Start migration',
            'Complete',
            'Status',
            'Status from email',
            'Support',
            'Short pages',
          ],
          'Flows',
          ['Move to Yahoo', 'Transfer', 'Download', 'Status', 'Support'],
          'Life',
          'Finished',
          'Downloads',
          'Parts',
        ],
      },
    },
  },
  decorators: [
    (Story, { globals }) => {
      const theme = globals['theme'] as Theme;
      useLayoutEffect(() => showTheme(theme), [theme]);
      return (
        <div className="shell">
          <Story />
        </div>
      );
    },
  ],
};
export default preview;
