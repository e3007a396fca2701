/** Whether the portal can be reloaded now. If not, a reload would end on an error page of the browser or a proxy. */
export async function isPortalThere(): Promise<boolean> {
  try {
    return (await fetch(location.href, { method: 'HEAD' })).ok;
  } catch {
    return false;
  }
}
