/** The longest `token_id`, in characters. Outside the server the ID is opaque (`decisions.md`). */
export const TOKEN_ID_LENGTH = 512;

export function isTokenId(text: string): boolean {
  return text.length >= 1 && text.length <= TOKEN_ID_LENGTH;
}
