import { type ComponentType, lazy } from 'react';
import { scriptOf } from './script.ts';

/** A part of a page whose script is fetched when it is first shown. */
export function laterPart<Name extends string, Props>(
  load: () => Promise<Readonly<Record<Name, ComponentType<Props>>>>,
  name: Name,
) {
  return lazy(async () => ({ default: (await scriptOf(name, load))[name] }));
}
