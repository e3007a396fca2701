import { createTransport, type SendMailOptions } from 'nodemailer';

type LettersOptions = {
  readonly url: string;
  /** Whether letters, and what signs in there, may go without TLS. */
  readonly inClear: boolean;
  /** How long the server may be silent, in milliseconds. */
  readonly silence: number;
  /** How long all of a letter may take, however steadily the server answers, in milliseconds. */
  readonly letterWithin: number;
  readonly timeout?: (milliseconds: number) => AbortSignal;
};

/** Where letters are given to an SMTP server (RFC 5321). */
export type Letters = Disposable & {
  /** @throws {Error} when the server has not taken it; one that was given up may have arrived all the same */
  readonly send: (letter: SendMailOptions) => Promise<void>;
};

export function openLetters({
  url,
  inClear,
  silence,
  letterWithin,
  timeout = (milliseconds) => AbortSignal.timeout(milliseconds),
}: LettersOptions): Letters {
  const transport = createTransport({
    url,
    requireTLS: !inClear,
    connectionTimeout: silence,
    greetingTimeout: silence,
    socketTimeout: silence,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async (letter) => {
      await transport.sendMail({ ...letter, signal: timeout(letterWithin) });
    },
    [Symbol.dispose]: () => transport.close(),
  };
}
