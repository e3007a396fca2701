import type { Deflated, Files } from '../archive/compression.ts';
import type { PageFolders, PageMessage, PageScripts } from '../page/page-writer.ts';
import type { Span, Sum } from '../staging/message-sums.ts';

/** What the thread does, by its name: what it is given, and what it answers. */
export type Work = {
  readonly beginPage: (given: { readonly page: number; readonly folders: PageFolders }) => void;
  readonly addToPage: (given: { readonly page: number; readonly messages: readonly PageMessage[] }) => void;
  readonly endPage: (given: { readonly page: number }) => PageScripts;
  readonly closePage: (given: { readonly page: number }) => void;
  /** The next octets of a segment: the sums of the messages that end in them. */
  readonly sum: (given: {
    readonly segment: string;
    readonly octets: Uint8Array;
    readonly spans: readonly Span[];
  }) => readonly Sum[];
  readonly closeSums: (given: { readonly segment: string }) => void;
  /** Each of the files deflated, and the memory that was given. */
  readonly deflate: (given: Files) => { readonly packed: Deflated; readonly memory: ArrayBuffer };
};

export type Asked = {
  readonly [Name in keyof Work]: readonly [name: Name, given: Parameters<Work[Name]>[0]];
}[keyof Work];
export type Request = { readonly id: number; readonly asked: Asked };

/** Errors lose their class and what Node adds to them on their way between threads. */
export type Failure = {
  readonly message: string;
  readonly isDamage: boolean;
  readonly node: { readonly code?: string; readonly syscall?: string };
};
export type Answer = { readonly id: number } & ({ readonly result: unknown } | { readonly failure: Failure });
