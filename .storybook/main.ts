import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StorybookConfig } from '@storybook/react-vite';
import { portalSettings, readSettings } from '../src/contract/settings.ts';

const PANEL_STYLES = ['../src/inspector/palette.css', '../src/inspector/chart.css', './chart-panel.css'];
const read = (path: string) => readFile(join(import.meta.dirname, path), 'utf8');

const config: StorybookConfig = {
  framework: '@storybook/react-vite',
  stories: ['../stories/**/*.stories.tsx'],
  addons: ['@storybook/addon-vitest', '@storybook/addon-a11y'],
  core: { disableTelemetry: true, disableWhatsNewNotifications: true },
  features: { sidebarOnboardingChecklist: false },
  managerHead: async (head = '') => `${head}<style>${(await Promise.all(PANEL_STYLES.map(read))).join('')}</style>`,
  typescript: { reactDocgen: false },
  viteFinal: (vite) => {
    const own = {
      ...vite,
      // The stories show the product as it is without any settings, whatever the environment says.
      define: {
        ...vite.define,
        PORTAL_SETTINGS: JSON.stringify(portalSettings(readSettings({ SANDBOX: 'on' }))),
        INSPECTOR_URL: 'null',
      },
      build: { ...vite.build, chunkSizeWarningLimit: 4000 },
    };
    // The tests of vite.config.ts are not Storybook's.
    if ('test' in own) delete own.test;
    return own;
  },
};
export default config;
