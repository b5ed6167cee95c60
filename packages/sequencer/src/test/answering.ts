import type { Layer1 } from '@ratatosk/layer1'
import type { Block, Store } from '@ratatosk/store'
import type { SignedTransaction } from '@ratatosk/test-kit'
import { expect, type TestContext } from 'vitest'
import { openAnswers, openRoots } from '../roots/index.js'
import type { AnswerMeans, SequencerOptions } from '../types.js'
import { openAsker, outputsOf, summonsContracts } from './asking.js'
import { accept, administrator, answerWallet, genesis, openChain, openRollup } from './rollup.js'
import { openers } from './services.js'

const contracts = summonsContracts
const openStore = openers['PostgreSQL and Redis']

/** A sequencer with a block, and a wallet that asks about it. */
async function openScene(
  context: TestContext,
  transactions: readonly SignedTransaction[],
  options: (store: Store, layer1: Layer1) => Partial<SequencerOptions> = () => ({}),
) {
  const { store } = await openStore(context)
  const chain = await openChain(context)
  const stopMining = chain.keepMining()
  context.onTestFinished(stopMining)
  const given = options(store, chain.layer1)
  const rollup = await openRollup(context, store, chain.layer1, { contracts, ...given })
  return { store, chain, stopMining, answers: given.answers, ...rollup, ...(await begin()) }

  async function begin() {
    expect(await rollup.sequencer.run('init')).toMatchObject({ kind: 'initiated' })
    const before = await outputsOf(store)
    await accept(store, transactions)
    expect(await rollup.sequencer.run('commit')).toMatchObject({ kind: 'committed' })
    const block = (await store.blocks.newest()) as Block
    const wallet = administrator(chain.layer1)
    return { before, block, wallet, asker: await openAsker(store, chain.layer1, wallet, contracts) }
  }
}

interface Changes {
  readonly options?: Partial<SequencerOptions>
  /** The layer 1 that sequencer and answers use. */
  readonly layer1?: (layer1: Layer1) => Layer1
  readonly store?: (store: Store) => Store
  /** Blocks whose outputs the roots keep. Default 1. */
  readonly history?: number
  readonly answers?: (answers: AnswerMeans) => AnswerMeans
}

/** A sequencer that answers needs its roots before it is made. */
export async function openAnswering(
  context: TestContext,
  transactions: readonly SignedTransaction[],
  { options = {}, layer1: changedLayer1, store: changedStore, history = 1, answers: changed }: Changes = {},
) {
  const roots = await openRoots({ history })
  return openScene(context, transactions, (opened, chain) => {
    const layer1 = changedLayer1?.(chain) ?? chain
    const store = changedStore?.(opened) ?? opened
    const blocks = openAnswers({ store, roots, genesis })
    context.onTestFinished(() => blocks.close())
    const answers = { blocks, wallet: answerWallet(layer1) }
    return { layer1, roots, answers: changed?.(answers) ?? answers, ...options }
  })
}
