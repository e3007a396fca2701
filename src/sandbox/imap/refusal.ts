/** A command is answered with NO or BAD, or the connection is closed with BYE. `message` is the text after it. */
export class ImapRefusal extends Error {
  override name = 'ImapRefusal';
  readonly answer: 'NO' | 'BAD' | 'BYE';
  constructor(answer: 'NO' | 'BAD' | 'BYE', message: string) {
    super(message);
    this.answer = answer;
  }
}
