/** An email address, which may break anywhere. One text, without `<wbr>`: a screen reader would read the parts of several. */
export function Address({ children }: { readonly children: string }) {
  return <span className="strong">{children}</span>;
}
