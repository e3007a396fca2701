import type { Deflated, Files } from './compression.ts';
import type { Span, Sum } from './message-sums.ts';
import type { PageFolders, PageMessage, PageScripts } from './page-writer.ts';

/** The thread's tasks by name: their input and their answer. */
export type Work = {
  readonly beginPage: (given: { readonly page: number; readonly folders: PageFolders }) => void;
  readonly addToPage: (given: { readonly page: number; readonly messages: readonly PageMessage[] }) => void;
  readonly endPage: (given: { readonly page: number }) => PageScripts;
  readonly closePage: (given: { readonly page: number }) => void;
  /** Takes the next octets of a segment; answers the sums of the messages that end in them. */
  readonly sum: (given: {
    readonly segment: string;
    readonly octets: Uint8Array;
    readonly spans: readonly Span[];
  }) => readonly Sum[];
  readonly closeSums: (given: { readonly segment: string }) => void;
  /** Answers each of the files deflated, and returns the memory that was given. */
  readonly deflate: (given: Files) => { readonly packed: Deflated; readonly memory: ArrayBuffer };
};

export type Asked = {
  readonly [Name in keyof Work]: readonly [name: Name, given: Parameters<Work[Name]>[0]];
}[keyof Work];
export type Request = { readonly id: number; readonly asked: Asked };

/** Between threads, errors lose their class and what Node adds to them. */
export type Failure = {
  readonly message: string;
  readonly isDamage: boolean;
  readonly node: { readonly code?: string; readonly syscall?: string };
};
export type Answer = { readonly id: number } & ({ readonly result: unknown } | { readonly failure: Failure });
