/** The actual address of a product under test, and the address that it is configured with. */
type Product = { readonly url: string; readonly settings: { readonly publicUrl: string } };

/** A browser: its cookies, and the addresses that it was sent to. */
export class OauthBrowser {
  readonly #cookies = new Map<string, string>();
  readonly #product: Product;
  /** The server that answers the next request, as if chosen by a load balancer. */
  server: string;

  constructor(product: Product) {
    this.#product = product;
    this.server = product.url;
  }

  /** The headers that it sends with a call. */
  get headers(): Record<string, string> {
    return { cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
  }

  async go(address: string): Promise<Response> {
    const { publicUrl } = this.#product.settings;
    const url = new URL(address, publicUrl);
    const own = url.origin === publicUrl;
    // Product and provider share a host, and cookies ignore ports, so the jar distinguishes cookies by name.
    const response = await fetch(own ? `${this.server}${url.pathname}${url.search}` : url, {
      redirect: 'manual',
      headers: this.headers,
    });
    this.keep(response);
    return response;
  }

  /** Keeps the cookies that an answer sets. */
  keep({ headers }: { readonly headers: Headers }): void {
    for (const cookie of headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      const at = pair.indexOf('=');
      this.#cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
  }

  /** Follows redirects until an address satisfies the condition; that address is not opened. */
  async until(address: string, isThere: (url: URL) => boolean): Promise<URL> {
    let url = new URL(address, this.#product.settings.publicUrl);
    for (let hops = 0; hops < 15; hops += 1) {
      const response = await this.go(url.href);
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${url.pathname} answered ${response.status} ${await response.text()}`);
      url = new URL(location, url);
      if (isThere(url)) return url;
    }
    throw new Error('The redirects do not end.');
  }
}

export const isReturn = (url: URL) => url.pathname.startsWith('/api/oauth/callback/');
export const isPage = (url: URL) => url.pathname.startsWith('/oauth-callback');
