import { blockTokenName, decodeBlockDatum } from '@ratatosk/contracts'
import {
  type BlockElement,
  type Contracts,
  type RootElement,
  readStateQueue,
  type Utxo,
} from '@ratatosk/layer1'
import { decodeTransaction, effects, type Transaction, toHex } from '@ratatosk/ledger'
import type { Block, StoredTransaction } from '@ratatosk/store'
import type { LocalBlocks } from './local-blocks.js'

/** A transaction of ours that layer 1 has not shown yet. */
export interface Link {
  readonly kind: 'commit' | 'merge'
  readonly block: Block
  /** 64 hex digits. */
  readonly id: string
  readonly bytes: Uint8Array
  readonly transaction: Transaction
  readonly produced: readonly Utxo[]
}

/** What is on its way, so ordered that each comes after those whose outputs it spends. */
export function linksOf(
  { flying, oldest }: Pick<LocalBlocks, 'flying' | 'oldest'>,
  deadMerges: ReadonlySet<string>,
): readonly Link[] {
  const commits = flying.map((block) => linkOf('commit', block, block.commitTransaction))
  const merges = oldest.flatMap((block) =>
    block.mergeTransaction && block.state === 'mature'
      ? [linkOf('merge', block, block.mergeTransaction)]
      : [],
  )
  const links = new Map([...commits, ...merges].map((link) => [link.id, link]))
  for (const id of deadMerges) links.delete(id)
  const ordered = new Set<Link>()
  const place = (link: Link): void => {
    for (const { transactionId } of link.transaction.body.inputs) {
      const parent = links.get(toHex(transactionId))
      if (parent !== undefined && !ordered.has(parent)) place(parent)
    }
    ordered.add(link)
  }
  for (const link of links.values()) place(link)
  return [...ordered]
}

export function linkOf(kind: Link['kind'], block: Block, { id, cbor }: StoredTransaction): Link {
  const transaction = decodeTransaction(cbor)
  return { kind, block, id: toHex(id), bytes: cbor, transaction, produced: effects(transaction).produced }
}

/** The root as it is once everything on its way is included. */
export function rootAfter(contracts: Contracts, links: readonly Link[], now: RootElement): RootElement {
  for (const { produced } of [...links].reverse()) {
    const [root] = readStateQueue(contracts, produced).roots
    if (root !== undefined) return root
  }
  return now
}

/** A block's element as the transactions of this store leave it: in its own commitment, or in that of the block behind it. */
export function elementOf({ queue }: Contracts, block: Block, behind: Block | undefined): BlockElement {
  const { produced } = linkOf('commit', block, (behind ?? block).commitTransaction)
  const name = toHex(blockTokenName(block.headerHash))
  const utxo = produced.find(({ output }) => output.value.assets.get(queue.policy)?.has(name))
  if (utxo?.output.datum.kind !== 'inline') {
    throw new Error(`The transaction that commits block ${block.height} does not hold its element`)
  }
  return { utxo, headerHash: toHex(block.headerHash), datum: decodeBlockDatum(utxo.output.datum.data) }
}
