/** Whether the portal can be loaded anew: else the browser's or a proxy's own page would take its place. */
export async function isPortalThere(): Promise<boolean> {
  try {
    return (await fetch(location.href, { method: 'HEAD' })).ok;
  } catch {
    return false;
  }
}
