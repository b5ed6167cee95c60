import { decodeHeader, headerFieldIndex } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
import type { Block, LedgerEntry, Store } from '@ratatosk/store'
import {
  type MapStore,
  mapSources,
  type OutputSource,
  type OutputState,
  TransactionsMaps,
} from './transactions-maps.js'
import type { Roots, Shown } from './types.js'

export interface AnswersOptions {
  readonly store: Pick<Store, 'transaction'> & {
    readonly blocks: Pick<
      Store['blocks'],
      'byHash' | 'creditsOf' | 'depositsById' | 'range' | 'transactionsOf' | 'utxosAfter'
    >
    readonly bodies: Pick<Store['bodies'], 'of' | 'transaction'>
  }
  /** The states of the unspent outputs; `openRoots` opens them. */
  readonly roots: Pick<Roots, 'answer'>
  /** The outputs that the ledger began with. */
  readonly genesis: readonly LedgerEntry[]
  /** Hash of the bridge's script, in a deployment that has one. */
  readonly bridge?: Uint8Array | undefined
}

/** Answers questions of the summons about the blocks of a store. */
export interface BlockAnswers {
  /**
   * Answers a question.
   *
   * @param block that it is about: unmerged, or removed with its body kept
   * @throws Error if the store lacks what it takes
   */
  show(question: SummonsQuestion, block: Block): Promise<Shown>
  /** Frees what it keeps. Another question can follow. */
  rest(): Promise<void>
  /** Ends its thread. Answers that are being made reject. */
  close(): Promise<void>
}

/**
 * Opens the answers to questions about the blocks of a store. The map of a block is built again when it is
 * asked for, on a thread of its own, one at a time. The outputs after a block come from the kept states of
 * the output trie, or else from the store: they take memory then for as long as they are asked for. Those
 * after a later block follow from them, so ask about the oldest block first.
 *
 * @example
 * const answers = openAnswers({ store, roots, genesis })
 * const shown = await answers.show(question, block)
 */
export function openAnswers({ store, roots, genesis, bridge }: AnswersOptions): BlockAnswers {
  const maps = new TransactionsMaps()
  const sourceOf = mapSources(withKept(store), genesis, bridge)
  const outputs: OutputSource = {
    outputsAfter: (block) => store.blocks.utxosAfter(block),
    wayTo: (block) => wayTo(store, block),
    blocks: (from, to) => store.blocks.range(from, to),
    contentOf: (headerHash) => sourceOf(headerHash).content(),
  }

  async function aboutOutputs(question: SummonsQuestion, block: Block): Promise<Shown> {
    const node = await roots.answer(block.utxosRoot, question)
    if (node === 'no such node') return { kind: 'nothing' }
    if (node !== 'not kept') return { kind: 'node', node }
    return maps.answerAboutOutputs(block, question, outputs)
  }

  return {
    async show(question, block) {
      if (question.root === headerFieldIndex.utxosRoot) return aboutOutputs(question, block)
      return maps.answer(toHex(block.headerHash), question, sourceOf(block.headerHash))
    },
    rest: () => maps.rest(),
    close: () => maps.close(),
  }
}

const withKept = ({ blocks, bodies, transaction }: AnswersOptions['store']): MapStore => ({
  transaction: async (id: Uint8Array) => (await transaction(id)) ?? bodies.transaction(id),
  blocks: {
    ...{ byHash: blocks.byHash, creditsOf: blocks.creditsOf, depositsById: blocks.depositsById },
    async transactionsOf(headerHash: Uint8Array): Promise<readonly { readonly cbor: Uint8Array }[]> {
      const present = await blocks.transactionsOf(headerHash)
      if (present.length > 0) return present
      return ((await bodies.of(headerHash)) ?? []).map((cbor) => ({ cbor }))
    },
  },
})

/** From what the ledger leads to, over removed blocks, to a block. */
async function wayTo({ blocks }: AnswersOptions['store'], block: Block): ReturnType<OutputSource['wayTo']> {
  const way: Block[] = []
  for (let last = block; last.state === 'removed'; ) {
    way.unshift(last)
    const before = await blocks.byHash(last.previousHeaderHash)
    if (before !== undefined) last = before
    else if (last.height > 1n) throw new Error('The store lacks a block before the block')
    else return { from: genesisBefore(last), blocks: way }
    if (last.state !== 'removed') return { from: last, blocks: way }
  }
  return { from: block, blocks: way }
}

const genesisBefore = ({ header, previousHeaderHash, firstSequence }: Block): OutputState => ({
  headerHash: previousHeaderHash,
  height: 0n,
  lastSequence: firstSequence - 1n,
  utxosRoot: decodeHeader(header).prevUtxosRoot,
})
