import type { Mutation } from './worker.ts';

/** Bugs that are planted, each of which the simulation has to find. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'an intent that is not committed': {
    ledger: (ledger) => ({
      ...ledger,
      open: async (groups) => groups.map((group, index) => ({ ...group, id: -index })),
    }),
  },
  'a recovery that looks for nothing': {
    ledger: (ledger) => ({ ...ledger, groups: async () => [] }),
  },
  'an outcome that is not committed': {
    ledger: (ledger) => ({ ...ledger, settle: (_rows, closed) => ledger.settle([], closed) }),
  },
  'a message that is forgotten while its group is closed': {
    ledger: (ledger) => ({
      ...ledger,
      settle: (rows, closed) =>
        ledger.settle(rows.length > 3 ? rows.with(0, { ...rows[0]!, fate: 'gone' }) : rows, closed),
    }),
  },
  'a difference that is not told': {
    ledger: (ledger) => ({
      ...ledger,
      settle: (rows, closed) =>
        ledger.settle(
          rows.map((row) => (row.fate === 'changed' ? { ...row, fate: 'stored' as const } : row)),
          closed,
        ),
    }),
  },
  'a lease that is not looked at': {
    lease: (lease) => ({ ...lease, mayWrite: () => true }),
    isUnfenced: true,
  },
};
