import { createTransport, type SendMailOptions } from 'nodemailer';

type LettersOptions = {
  readonly url: string;
  /** Whether letters and credentials may be sent without TLS. */
  readonly inClear: boolean;
  /** How long the server may be silent, in milliseconds: until it greets, and then before each answer. */
  readonly silence: number;
  readonly answerWithin?: number;
  /** Time limit for a whole letter, however steadily the server answers, in milliseconds. */
  readonly letterWithin: number;
  readonly timeout?: (milliseconds: number) => AbortSignal;
};

/** The server, or gateway, got the whole letter or SMS, and did not say what became of it: it may have arrived. */
export class Unanswered extends Error {
  override name = 'Unanswered';
}

/** Hands letters to an SMTP server (RFC 5321). */
export type Letters = Disposable & {
  /** @throws {Unanswered}; another error if the server did not accept it */
  readonly send: (letter: SendMailOptions) => Promise<void>;
};

export function openLetters({
  url,
  inClear,
  silence,
  answerWithin = silence,
  letterWithin,
  timeout = (milliseconds) => AbortSignal.timeout(milliseconds),
}: LettersOptions): Letters {
  const transport = createTransport({
    url,
    requireTLS: !inClear,
    connectionTimeout: silence,
    greetingTimeout: silence,
    socketTimeout: answerWithin,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  /** The signals of letters that the server has been sent to their end. */
  const handedOver = new WeakSet<AbortSignal>();
  transport.use('stream', ({ data: { signal }, message }, done) => {
    message.processFunc((octets) => octets.once('end', () => signal !== undefined && handedOver.add(signal)));
    done();
  });
  return {
    send: async (letter) => {
      const signal = timeout(letterWithin);
      try {
        await transport.sendMail({ ...letter, signal });
      } catch (cause) {
        if (!handedOver.has(signal) || (cause as { response?: string }).response !== undefined) throw cause;
        throw new Unanswered('The mail server got a letter, and did not say whether it took it.', { cause });
      }
    },
    [Symbol.dispose]: () => transport.close(),
  };
}
