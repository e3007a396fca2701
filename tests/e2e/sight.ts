import type { Locator } from 'playwright';

/** Whether an element can be seen from its top to its end: nothing covers it, and it is not scrolled away. */
export function isInSight(place: Locator): Promise<boolean> {
  return place.evaluate((element) => {
    const { left, top, bottom } = element.getBoundingClientRect();
    return [top + 8, bottom - 8].every((y) => element.contains(document.elementFromPoint(left + 20, y)));
  });
}
