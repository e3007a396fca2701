import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

type Answer = { readonly status: number | undefined; readonly leadsTo: string | undefined };
type Shown = Answer & { readonly headers: IncomingMessage['headers']; readonly text: string };

/** Follows a link as a browser does, and returns where it redirects. `fetch` alone doesn't look like a navigation. */
export async function followLink(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const { status, leadsTo } = await openLink(url, headers);
  return { status, leadsTo };
}

/** The same, with what the browser would display. */
export async function openLink(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Shown> {
  const asked = request(url, {
    headers: { accept: 'text/html,*/*;q=0.8', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', ...headers },
  });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const { statusCode: status, headers: given } = answer;
  return { status, leadsTo: given.location, headers: given, text: await text(answer) };
}
