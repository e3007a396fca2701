type Titles = { readonly plain: string; readonly withError: string };

let titles: Titles | null = null;
let hasError = false;

function show(): void {
  if (titles !== null) document.title = hasError ? titles.withError : titles.plain;
}

/** The title of the browser's tab, as it is and while a form on the page has an error. */
export function setTitles(next: Titles): void {
  titles = next;
  show();
}

export function setErrorInTitle(isThere: boolean): void {
  hasError = isThere;
  show();
}
