import { decodeHeader, genesisHeaderHash, transactionKey } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import {
  decodeTransaction,
  encodeOutputReference,
  type OutputReference,
  outputReferenceKey,
} from '@ratatosk/ledger'
import type { Against, HeldProof, ProvedTransaction, Prover } from '@ratatosk/ports'
import type { Block, LedgerEntry, Store } from '@ratatosk/store'
import { ProverBusyError } from './errors.js'
import { creditedUpTo, mapSources, TransactionsMaps } from './transactions-maps.js'
import type { Roots } from './types.js'

export interface ProverOptions {
  readonly store: Pick<Store, 'transaction'> & {
    readonly blocks: Pick<
      Store['blocks'],
      | 'byHash'
      | 'byHeight'
      | 'confirmed'
      | 'creditsOf'
      | 'depositsById'
      | 'unmerged'
      | 'ofTransaction'
      | 'transactionsOf'
    >
  }
  /** The states of the unspent outputs; `openRoots` opens them. */
  readonly roots: Pick<Roots, 'root' | 'prove'>
  /** The outputs that the ledger began with. */
  readonly genesis: readonly LedgerEntry[]
  /** Hash of the bridge's script, in a deployment that has one. */
  readonly bridge?: Uint8Array | undefined
  /** The most proofs that are made at a time; others are refused. @defaultValue 32 */
  readonly maxPending?: number
}

/** A prover that owns a thread. */
export interface OpenProver extends Prover {
  /** Ends its thread. Proofs that are being made reject. */
  close(): Promise<void>
}

/** States in which layer 1 holds the header. */
const onLayer1: ReadonlySet<Block['state']> = new Set<Block['state']>(['committed', 'mature', 'merged'])

/**
 * Opens a prover over the node's own blocks.
 *
 * Proofs of outputs come from the kept states of the output trie and take well under a millisecond. The
 * transactions map of a block is built again when it is asked for, on a thread of its own, one at a time; the
 * last four are kept.
 *
 * @example
 * const prover = openProver({ store, roots, genesis })
 * const proof = await prover.utxo(reference, { kind: 'confirmed' })
 */
export function openProver({ store, roots, genesis, bridge, maxPending = 32 }: ProverOptions): OpenProver {
  const maps = new TransactionsMaps()
  const genesisOutputs = new Map(
    genesis.map(({ reference, output }) => [outputReferenceKey(reference), output] as const),
  )
  const sourceOf = mapSources(store, genesis, bridge)
  let pending = 0

  async function bounded<T>(work: () => Promise<T>): Promise<T> {
    if (pending >= maxPending) throw new ProverBusyError()
    pending++
    try {
      return await work()
    } finally {
      pending--
    }
  }

  /** Undefined: the state before the first block. */
  async function blockOf(against: Against): Promise<Block | undefined | 'no block'> {
    if (against.kind === 'header') {
      const block = await store.blocks.byHash(against.headerHash)
      return block !== undefined && onLayer1.has(block.state) ? block : 'no block'
    }
    if (against.kind === 'committed') {
      const newest = (await store.blocks.unmerged()).findLast(({ state }) => onLayer1.has(state))
      if (newest !== undefined) return newest
    }
    return store.blocks.confirmed()
  }

  async function rootBeforeBlocks(): Promise<Uint8Array> {
    const first = await store.blocks.byHeight(1n)
    return first === undefined ? roots.root() : decodeHeader(first.header).prevUtxosRoot
  }

  /** @param block the newest, in whose state it is unspent */
  async function outputOf(
    { transactionId, index }: OutputReference,
    block: Block | undefined,
  ): Promise<Uint8Array> {
    const known = genesisOutputs.get(outputReferenceKey({ transactionId, index }))
    if (known !== undefined) return known
    const cbor = await store.transaction(transactionId)
    const output = cbor
      ? decodeTransaction(cbor).body.outputs[index]?.bytes
      : (await creditedUpTo(store, block?.headerHash ?? genesisHeaderHash(), [transactionId]))[0]?.output
    if (output === undefined) throw new Error('The node does not have an output of its own trie')
    return output
  }

  async function utxo(
    reference: OutputReference,
    against: Against,
  ): Promise<HeldProof | 'no block' | 'not kept'> {
    const block = await blockOf(against)
    if (block === 'no block') return block
    const root = block?.utxosRoot ?? (await rootBeforeBlocks())
    const key = encodeOutputReference(reference)
    const proved = await roots.prove(root, key)
    if (proved === undefined) return 'not kept'
    const value = proved.isUnspent ? await outputOf(reference, block) : undefined
    return { block: block && named(block), root, key, value, proof: proved.proof }
  }

  async function transaction(
    id: Uint8Array,
    headerHash?: Uint8Array,
  ): Promise<ProvedTransaction | 'no block'> {
    const place = await store.blocks.ofTransaction(id)
    const block = headerHash === undefined ? place?.block : await store.blocks.byHash(headerHash)
    if (block === undefined || !onLayer1.has(block.state)) return 'no block'
    const isThere = place !== undefined && equalBytes(place.block.headerHash, block.headerHash)
    const key = isThere
      ? transactionKey(place.position)
      : encodeOutputReference({ transactionId: id, index: 0 })
    const source = sourceOf(block.headerHash)
    const { root, value, proof } = await maps.prove(toHex(block.headerHash), key, source)
    return { block: named(block), position: isThere ? place.position : undefined, root, key, value, proof }
  }

  return {
    utxo: (reference, against) => bounded(() => utxo(reference, against)),
    transaction: (id, headerHash) => bounded(() => transaction(id, headerHash)),
    close: () => maps.close(),
  }
}

const named = ({ headerHash, header, height }: Block) => ({ headerHash, header, height })
