import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { portalSettings } from './src/contract/settings.ts';
import { settingsFrom } from './src/read-settings.ts';
import { type Folder, FOLDERS, TAGS, tagsFilterOf, WORKERS } from './tests/folders.ts';
import { LongestFirst } from './tests/runner/longest-first.ts';
import { CHROMIUM } from './tests/support/installed.ts';

const root = import.meta.dirname;
// With no settings at all the portal builds for the sandbox; the start passes the real ones by the environment.
const settings = () => settingsFrom(process.env);

/** What the page says before its script has come. */
function firstPaint(): Plugin {
  return {
    name: 'first-paint',
    transformIndexHtml: (html) => {
      const { legacyName, supportPhone } = portalSettings(settings());
      const said = { LEGACY_NAME: legacyName, SUPPORT_PHONE: supportPhone.replaceAll(' ', '\u00a0') };
      return Object.entries(said).reduce(
        (page, [name, text]) => page.replaceAll(`%${name}%`, () => escaped(text)),
        html,
      );
    },
  };
}

/**
 * What the router keeps for every application, and this one never uses, by the file that brings it: link components,
 * where what is followed here is an event of the machine, and its own way to read and write a query, for which
 * `router.tsx` has another. It would be a fiftieth of the first load.
 */
const UNUSED_OF_ROUTER: Readonly<Record<string, string>> = {
  'react-router ./link.js': 'Link, createLink, linkOptions, useLinkProps',
  'router-core ./searchParams.js': 'defaultParseSearch, defaultStringifySearch, parseSearchWith, stringifySearchWith',
};

function withoutUnusedOfRouter(): Plugin {
  const none = '\0none-of-router:';
  return {
    name: 'without-unused-of-router',
    enforce: 'pre',
    resolveId: (source, importer) => {
      const file = `${/\/@tanstack\/([a-z-]+)\//.exec(importer ?? '')?.[1]} ${source}`;
      return Object.hasOwn(UNUSED_OF_ROUTER, file) ? none + file : null;
    },
    load: (id) => (id.startsWith(none) ? `export const [${UNUSED_OF_ROUTER[id.slice(none.length)]}] = [];` : null),
  };
}

/**
 * Vite's own waits for the style sheets of a script that is fetched later. The portal has a single one, which
 * `index.html` names; only the inspector brings another.
 */
function withoutPreloads(): Plugin {
  return {
    name: 'without-preloads',
    enforce: 'pre',
    load: (id) =>
      id === '\0vite/preload-helper.js' && settings().inspectorUrl === undefined
        ? 'export const __vitePreload = (load) => load();'
        : null,
  };
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
}

const ENTRY = /\/src\/portal\/(?:index\.html|main\.tsx)$/;

/** What of a file one folder leaves out, another has. */
function chosenIn(folder: Folder) {
  const filter = tagsFilterOf(folder);
  return filter === undefined ? {} : { tagsFilter: [filter] };
}

/** A test file says by its folder what it needs; `tests/run.ts` fetches that. */
const project = (folder: Folder) => ({
  test: {
    name: folder.name,
    root,
    environment: 'node' as const,
    include: [...(folder.files ?? [`tests/${folder.name}/**/*.test.ts`])],
    env: { IS_PROOF: String(folder.isProof === true) },
    // The files of a folder share processes, which compile and load the product once; proofs measure theirs.
    isolate: folder.isProof === true && folder.files === undefined,
    testTimeout: folder.timeout,
    // A second, which is the default, says more of the machine than of the product.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 120_000,
    // Half of the time of the garbage collector.
    execArgv: ['--max-semi-space-size=32'],
    maxWorkers: WORKERS,
    tags: [...TAGS],
    ...chosenIn(folder),
    // The stories come before the proofs.
    sequence: { groupOrder: folder.isProof === true ? 2 : 1 },
    // On a shared CI machine; what passes only then is named at the end and counts as neither passed nor failed.
    retry: process.env['CI'] === undefined ? 0 : 1,
  },
});

export default defineConfig(() => ({
  root: join(root, 'src/portal'),
  cacheDir: join(root, 'node_modules/.vite'),
  plugins: [react(), firstPaint(), withoutUnusedOfRouter(), withoutPreloads()],
  // React has had this hook itself since version 18.
  resolve: { alias: [{ find: /^use-sync-external-store\/shim(?:\/index\.js)?$/, replacement: 'react' }] },
  define: {
    PORTAL_SETTINGS: JSON.stringify(portalSettings(settings())),
    INSPECTOR_URL: JSON.stringify(settings().inspectorUrl ?? null),
  },
  build: {
    outDir: process.env['PORTAL_OUT'] ?? join(root, 'dist/portal'),
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: false,
    rolldownOptions: {
      // On a busy machine it would say how long its plugins took.
      checks: { bundlerTimings: false },
      // A schema that a page doesn't use is left out of its script.
      treeshake: { manualPureFunctions: ['v'] },
      // All that a first load needs is one script, which compresses best. Only what awaits further scripts stands apart:
      // they import from that one.
      output: { codeSplitting: { groups: [{ name: 'shell', tags: ['$initial'], test: (id) => !ENTRY.test(id) }] } },
    },
  },
  test: {
    globalSetup: join(root, 'tests/support/global-setup.ts'),
    sequence: { sequencer: LongestFirst },
    projects: [...FOLDERS.map(project), ...(CHROMIUM === null ? [] : [join(root, '.storybook/vitest.config.ts')])],
  },
}));
