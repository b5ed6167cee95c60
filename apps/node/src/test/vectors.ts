import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const vectors = resolve(root, process.env.RATATOSK_VECTORS ?? '../shared/vectors')

/** A signed layer-2 transaction of the Midgard demo. */
export interface MidgardTransaction {
  readonly cborHex: string
  readonly txId: string
}

/** Why tests on foreign data must be skipped; false where it is there. Under CI it must be. */
export const vectorsMissing: string | false = (() => {
  if (existsSync(vectors)) return false
  if (process.env.CI) throw new Error(`the test data is missing: ${vectors} (set RATATOSK_VECTORS)`)
  return 'the test data is missing: set RATATOSK_VECTORS'
})()

/** A chain of 1,000 transactions from {@link midgardGenesis}; the chains spend the same output. */
export function midgardChain(file: 'txs_0' | 'txs_1'): MidgardTransaction[] {
  return JSON.parse(readFileSync(resolve(vectors, 'midgard-txs', `${file}.json`), 'utf8'))
}

/** The address that all of them pay to and spend from: a key's, without stake. */
export const midgardAddressHex = '60d4832761852f9e2755a42a3aee078e55961153f592a0be9fd7688b93'

/** What the chains begin with: 10,000 ADA. */
export const midgardGenesis = {
  outref: '3cfad9d17fc95f9a81228772aa32f791fcd81fbac1f7aa419674a4629ce8f660#0',
  output: `a200581d${midgardAddressHex}011b00000002540be400`,
}
