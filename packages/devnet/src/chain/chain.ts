import { effects, outputReferenceKey } from '@ratatosk/ledger'
import { type AccountView, createAccounts } from './accounts.js'
import { createOutputIndex, type OutputIndex } from './output-index.js'
import { createPreimages, type Preimages } from './preimages.js'
import type { Block, ChainTransaction, Place, Tip } from './types.js'

/** The confirmed chain and all that follows from it, in memory. Blocks go on and come off at the tip only. */
export interface Chain {
  readonly tip: Tip
  readonly outputs: OutputIndex
  readonly accounts: AccountView
  readonly preimages: Preimages
  blockAt(height: number): Block | undefined
  blockOf(hash: string): Block | undefined
  transaction(hash: string): { readonly transaction: ChainTransaction; readonly place: Place } | undefined
  append(block: Block): void
  /** Takes the tip off. */
  undo(): Block
  /** Empty blocks of this height need no longer be known. */
  forget(height: number): void
  /** The highest known block at or below a height; genesis is always known. */
  knownBelow(height: number): Tip
}

export function createChain(genesis: Tip, keyDeposit: bigint): Chain {
  const outputs = createOutputIndex()
  const accounts = createAccounts(keyDeposit)
  const registrations = new Map<string, () => void>()
  const preimages = createPreimages()
  const blocks = new Map<number, Block>()
  const heights = new Map<string, number>()
  const transactions = new Map<string, { transaction: ChainTransaction; place: Place }>()
  let tip = genesis

  function apply(chainTransaction: ChainTransaction, place: Place): void {
    const { hash, transaction } = chainTransaction
    const { spent, produced } = effects(transaction)
    const by = transaction.isValid ? 'inputs' : 'collateral'
    for (const reference of spent) {
      outputs.spend(outputReferenceKey(reference), { ...place, transactionHash: hash, by })
    }
    for (const { reference, output } of produced) {
      outputs.add({
        key: outputReferenceKey(reference),
        transactionHash: hash,
        index: reference.index,
        output,
        created: place,
        collateralReturn: !transaction.isValid,
      })
    }
    registrations.set(hash, accounts.apply(transaction))
    preimages.see(transaction)
    transactions.set(hash, { transaction: chainTransaction, place })
  }

  function revert({ hash, transaction }: ChainTransaction): void {
    const { spent, produced } = effects(transaction)
    for (const { reference } of produced) outputs.remove(outputReferenceKey(reference))
    for (const reference of spent) outputs.unspend(outputReferenceKey(reference))
    registrations.get(hash)?.()
    registrations.delete(hash)
    transactions.delete(hash)
  }

  return {
    get tip() {
      return tip
    },
    outputs,
    accounts,
    preimages,
    blockAt: (height) => blocks.get(height),
    blockOf(hash) {
      const height = heights.get(hash)
      return height === undefined ? undefined : blocks.get(height)
    },
    transaction: (hash) => transactions.get(hash),
    append(block) {
      const at = { height: block.height, slot: block.slot, hash: block.hash }
      block.transactions.forEach((transaction, position) => {
        apply(transaction, { block: at, position })
      })
      blocks.set(block.height, block)
      heights.set(block.hash, block.height)
      tip = at
    },
    undo() {
      const block = blocks.get(tip.height)
      if (block === undefined) throw new RangeError('there is no block to undo')
      for (const transaction of [...block.transactions].reverse()) revert(transaction)
      blocks.delete(block.height)
      heights.delete(block.hash)
      tip = knownBelow(block.height - 1)
      return block
    },
    forget(height) {
      const block = blocks.get(height)
      if (block === undefined || block.transactions.length > 0) return
      blocks.delete(height)
      heights.delete(block.hash)
    },
    knownBelow,
  }

  function knownBelow(height: number): Tip {
    for (let at = height; at > 0; at--) {
      const block = blocks.get(at)
      if (block !== undefined) return { height: block.height, slot: block.slot, hash: block.hash }
    }
    return genesis
  }
}
