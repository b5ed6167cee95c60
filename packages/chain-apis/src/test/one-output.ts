import { CborWriter, fromHex } from '@ratatosk/cbor'
import { decodeTransactionOutput } from '@ratatosk/ledger'
import type { ChainOutput } from '../view/chain-view.js'
import { chainWith } from './served-chain.js'

/** The address of the output. */
export const addressBytes = `60${'11'.repeat(28)}`
/** The slot of the block. */
export const slot = 14n
/** The hash of the block. */
export const blockHash = '22'.repeat(32)

const place = { block: { height: 1, slot, hash: blockHash }, position: 0 }
const output: ChainOutput = {
  key: `${'33'.repeat(32)}#0`,
  transactionHash: '33'.repeat(32),
  index: 0,
  output: decodeTransactionOutput(new CborWriter().array(2).bytes(fromHex(addressBytes)).uint(1n).toBytes()),
  created: place,
  collateralReturn: false,
}

/** One block with one output. */
export const oneOutputChain = chainWith({
  tip: () => place.block,
  blockUntil: (at) => (at < slot ? { height: 0, slot: 0n, hash: '00'.repeat(32) } : place.block),
  version: () => place.block.hash,
  datums: () => new Map(),
  script: () => undefined,
  async *outputPages() {
    yield [output]
  },
})
