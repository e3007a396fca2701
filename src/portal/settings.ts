import type { PortalSettings } from '../contract/settings.ts';

declare const PORTAL_SETTINGS: PortalSettings;

/** What the build baked in (`vite.config.ts`). */
export const settings: PortalSettings = PORTAL_SETTINGS;
