/**
 * The cases of layer 1's services that an API answers otherwise, by the names that its test gives them. Each
 * list may only lose lines: the tests fail for a case that agrees.
 */
export const knownDeviations: Readonly<Record<'blockfrost' | 'kupo' | 'ogmios', readonly string[]>> = {
  blockfrost: [],
  kupo: [],
  ogmios: [],
}
