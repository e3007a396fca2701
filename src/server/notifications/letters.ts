import { createTransport, type SendMailOptions } from 'nodemailer';

type LettersOptions = {
  readonly url: string;
  /** Whether letters and credentials may be sent without TLS. */
  readonly inClear: boolean;
  /** How long the server may be silent, in milliseconds. */
  readonly silence: number;
  /** Time limit for a whole letter, however steadily the server answers, in milliseconds. */
  readonly letterWithin: number;
  readonly timeout?: (milliseconds: number) => AbortSignal;
};

/** Hands letters to an SMTP server (RFC 5321). */
export type Letters = Disposable & {
  /** @throws {Error} if the server did not accept it; after a timeout it may have arrived all the same */
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
