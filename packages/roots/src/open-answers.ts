import { headerFieldIndex } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
import type { Block, LedgerEntry, Store } from '@ratatosk/store'
import { mapSources, type OutputSource, TransactionsMaps } from './transactions-maps.js'
import type { Roots, Shown } from './types.js'

export interface AnswersOptions {
  readonly store: Pick<Store, 'transaction'> & {
    readonly blocks: Pick<Store['blocks'], 'range' | 'transactionsOf' | 'utxosAfter'>
  }
  /** The states of the unspent outputs; `openRoots` opens them. */
  readonly roots: Pick<Roots, 'answer'>
  /** The outputs that the ledger began with. */
  readonly genesis: readonly LedgerEntry[]
}

/** Answers questions of the summons about a node's own blocks. */
export interface BlockAnswers {
  /**
   * What answers a question.
   *
   * @param block the unmerged block that it is about
   * @throws Error if the store lacks what it takes
   */
  show(question: SummonsQuestion, block: Block): Promise<Shown>
  /** Frees what it keeps. Another question can follow. */
  rest(): Promise<void>
  /** Ends its thread. Answers that are being made reject. */
  close(): Promise<void>
}

/**
 * Opens the answers to questions about a node's own blocks. The map of a block is built again when it is
 * asked for, on a thread of its own, one at a time. The outputs after a block come from the kept states of
 * the output trie, or else from the store: they take memory then for as long as they are asked for. Those
 * after a later block follow from them, so ask about the oldest block first.
 *
 * @example
 * const answers = openAnswers({ store, roots, genesis })
 * const shown = await answers.show(question, block)
 */
export function openAnswers({ store, roots, genesis }: AnswersOptions): BlockAnswers {
  const maps = new TransactionsMaps()
  const sourceOf = mapSources(store, genesis)
  const outputs: OutputSource = {
    outputsAfter: (block) => store.blocks.utxosAfter(block),
    blocks: (from, to) => store.blocks.range(from, to),
    transactionsOf: (headerHash) => sourceOf(headerHash).transactions(),
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
      // A block has no deposits and no withdrawals, so no one can ask about them.
      if (question.root !== headerFieldIndex.transactionsRoot) return { kind: 'nothing' }
      return maps.answer(toHex(block.headerHash), question, sourceOf(block.headerHash))
    },
    rest: () => maps.rest(),
    close: () => maps.close(),
  }
}
