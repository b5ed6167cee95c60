import type { Header } from '@ratatosk/block'
import { blake2b256 } from '@ratatosk/ledger'
import type { TestTransaction } from '../transaction.js'
import { ada, root, type World, wallet } from '../world.js'
import { blockOutput, blockToken, firstHeader, spend } from './scenarios.js'

export const otherHash = new Uint8Array(28).fill(9)
export const signedBy = (transaction: TestTransaction, hash: Uint8Array): TestTransaction => ({
  ...transaction,
  signatories: [hash],
})

/** Spends another element of the queue and pays its token to a wallet. */
export const withRider = (
  transaction: TestTransaction,
  world: World,
  header: Header,
  id = 9,
): TestTransaction => ({
  ...transaction,
  inputs: [...transaction.inputs, spend(id, blockOutput(world, header))],
  outputs: [...transaction.outputs, wallet(ada(4), [blockToken(world, header)])],
})

export const rider: Header = { ...firstHeader, utxosRoot: root(77) }

export function withDatumHash(transaction: TestTransaction, index: number): TestTransaction {
  return {
    ...transaction,
    outputs: transaction.outputs.map((output, i) => {
      if (i !== index) return output
      const { datum, ...rest } = output
      return { ...rest, datumHash: blake2b256(datum!) }
    }),
  }
}
