import { bech32 } from 'bech32'

/** The limit of 90 characters of BIP-173 does not apply to addresses. */
const longest = 1000

/** The text of an address that a key owns: CIP-19. */
export const addressText = (address: Uint8Array): string =>
  bech32.encode(((address[0] ?? 0) & 1) === 1 ? 'addr' : 'addr_test', bech32.toWords(address), longest)

/** The bytes of an address. @throws Error if the text is not an address */
export const addressBytes = (text: string): Uint8Array =>
  Uint8Array.from(bech32.fromWords(bech32.decode(text, longest).words))

/** Whether a key owns an address, whose outputs a node lists: types 0, 2, 4 and 6. */
export const isOfKey = ([header = 0xff]: Uint8Array): boolean => (header & 0x90) === 0
