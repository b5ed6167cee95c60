import { bech32 } from 'bech32'

/**
 * The bytes of a text in bech32 (CIP-5), or undefined for other texts.
 *
 * @param lengths how many bytes there are under each prefix
 */
export function readBech32<Prefix extends string>(
  text: string,
  lengths: Readonly<Record<Prefix, number>>,
): { readonly prefix: Prefix; readonly bytes: Uint8Array } | undefined {
  const decoded = bech32.decodeUnsafe(text, 128)
  if (decoded === undefined || !Object.hasOwn(lengths, decoded.prefix)) return undefined
  const prefix = decoded.prefix as Prefix
  // Undefined if bits are left over.
  const bytes = bech32.fromWordsUnsafe(decoded.words)
  return bytes?.length === lengths[prefix] ? { prefix, bytes: Uint8Array.from(bytes) } : undefined
}
