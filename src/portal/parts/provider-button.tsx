import type { ReactNode } from 'react';

/** Plain drawings of our own, all in one ink: the providers are equal in rank. */
const MARKS = {
  google: 'M3 7v11h4v-8l5 4 5-4v8h4V7l-3-1-6 4.5L6 6 3 7Z',
  office365: 'M9 5h12v14H9M9 8 15 12l6-4M3 7h9v10H3V7Zm4.5 3a2 2 0 1 0 0 4 2 2 0 0 0 0-4Z',
  aol: 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0Zm-5 0a4 4 0 1 1-8 0 4 4 0 0 1 8 0Zm0-4v8',
  yahoo: 'm4 6 5 7v6m5-13-5 7m9-7v8m0 4v.01',
  other: 'M4 5h16v6H4V5Zm0 8h16v6H4v-6Zm3-5v.01M7 16v.01',
  file_export: 'M12 3v11m-4.5-4L12 14.5l4.5-4.5M4 16v5h16v-5',
} as const;

type Props = {
  readonly provider: keyof typeof MARKS;
  readonly name: string;
  readonly onChoose: () => void;
};

export function ProviderButton({ provider, name, onChoose }: Props) {
  return (
    <li>
      <button className="provider" type="button" onClick={onChoose}>
        <svg
          style={{ width: '1.5556rem', height: '1.5556rem' }}
          viewBox="0 0 24 24"
          fill="none"
          stroke="currentColor"
          strokeWidth="1.75"
          strokeLinecap="round"
          strokeLinejoin="round"
          aria-hidden="true"
        >
          <path d={MARKS[provider]} />
        </svg>
        {name}
      </button>
    </li>
  );
}

export function Providers({ children }: { readonly children: ReactNode }) {
  return <ul className="providers">{children}</ul>;
}
