/** The work was asked to end; what is done is done, the rest waits. */
export class Stopped extends Error {
  override name = 'Stopped';
}
