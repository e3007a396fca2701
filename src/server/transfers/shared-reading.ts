/**
 * Reads the same key only once at a time: those who ask while it is being read share the next reading, which begins
 * after they asked.
 */
export function sharedReading<Value>(read: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  const underWay = new Map<string, Promise<unknown>>();
  const next = new Map<string, Promise<Value>>();
  const begin = (key: string): Promise<Value> => {
    next.delete(key);
    const reading = read(key);
    const over = reading.then(
      () => underWay.delete(key),
      () => underWay.delete(key),
    );
    underWay.set(key, over);
    return reading;
  };
  return (key) => {
    const before = underWay.get(key);
    const shared = next.get(key) ?? before?.then(() => begin(key));
    if (shared === undefined) return begin(key);
    next.set(key, shared);
    return shared;
  };
}
