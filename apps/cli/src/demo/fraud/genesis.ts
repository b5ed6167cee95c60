import { testGenesis } from '@ratatosk/devnet'
import { keysFromSeedPhrase, toOutput } from '@ratatosk/ledger/builder'

/** The outputs of an operator on layer 1, and the lovelace in each. */
const [outputs, lovelace] = [5, 1_000_000_000n]

/** The devnet's genesis, with ada for operators besides the devnet's own. */
export function genesisWith(seedPhrases: readonly string[]): ReturnType<typeof testGenesis> {
  const genesis = testGenesis()
  const own = seedPhrases.flatMap((phrase, place) => {
    const address = keysFromSeedPhrase(phrase, { networkId: 0 }).address.bytes
    const value = { lovelace, assets: new Map() }
    const output = Buffer.from(toOutput({ address, value, datum: { kind: 'none' } }).bytes).toString('hex')
    return Array.from({ length: outputs }, (_, index) => ({
      outref: `${'22'.repeat(32)}#${place * outputs + index}`,
      output,
    }))
  })
  return { ...genesis, utxos: [...genesis.utxos, ...own] }
}
