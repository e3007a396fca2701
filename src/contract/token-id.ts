/** The longest `token_id`, in characters. Of the text itself no more is known on this side of the server (`decisions.md`). */
export const TOKEN_ID_LENGTH = 512;

export function isTokenId(text: string): boolean {
  return text.length >= 1 && text.length <= TOKEN_ID_LENGTH;
}
