/** CRC-32 (ISO 3309), with its polynomial reflected as in zlib. */
const POLYNOMIAL = 0xedb8_8320;
/** x^0 and x^1: the highest bit is the lowest power. */
const [ONE, X] = [0x8000_0000, 0x4000_0000];

/** x^(2^n) modulo the polynomial. */
const POWERS: readonly number[] = (() => {
  const powers = [X];
  while (powers.length < 32) powers.push(product(powers.at(-1) ?? 0, powers.at(-1) ?? 0));
  return powers;
})();

/** The product of two polynomials, modulo {@link POLYNOMIAL}. */
function product(one: number, other: number): number {
  let [result, factor] = [0, other];
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((one & bit) !== 0) result ^= factor;
    factor = (factor & 1) === 0 ? factor >>> 1 : (factor >>> 1) ^ POLYNOMIAL;
  }
  return result >>> 0;
}

/**
 * The CRC-32 of some octets and `length` further ones behind them, from the checksums of both: reading them a second
 * time takes longer.
 */
export function joinedCrc32(before: number, further: number, length: number): number {
  if (before === 0) return further;
  let shifted = before;
  // Shifts by eight bits for each octet.
  for (let [rest, power] = [length, 3]; rest > 0; rest = Math.floor(rest / 2), power += 1)
    if (rest % 2 === 1) shifted = product(POWERS[power % 32] ?? 0, shifted);
  return (shifted ^ further) >>> 0;
}
