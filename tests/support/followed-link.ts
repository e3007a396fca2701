import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';

type Answer = { readonly status: number | undefined; readonly leadsTo: string | undefined };

/** What a browser is answered that follows a link: `fetch` says of itself that it is none. */
export async function followLink(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const asked = request(url, {
    headers: { accept: 'text/html,*/*;q=0.8', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', ...headers },
  });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  return { status: answer.statusCode, leadsTo: answer.headers.location };
}
