import { decodeHeader, deriveBlock, headerFieldIndex } from '@ratatosk/block'
import type { SummonsQuestion } from '@ratatosk/contracts'
import type { Layer1, Wallet } from '@ratatosk/layer1'
import { encodeOutputReference, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import {
  administratorAddress,
  askQuestions,
  type Contracts,
  firstSlotFrom,
  type OpenQuestion,
  readQuestions,
  referenceScriptsOf,
} from '@ratatosk/protocol'
import { encodeAsk, nodeKey } from '@ratatosk/protocol/fraud'
import type { AnswerTransaction, Block, Store } from '@ratatosk/store'
import type { SignedTransaction } from '@ratatosk/test-kit'
import { createMemoryStore, createTrie, nodeHash, type Proof, type Trie } from '@ratatosk/trie'
import { expect, type TestContext } from 'vitest'
import { openAnswers, openRoots } from '../roots/index.js'
import type { AnswerMeans, SequencerOptions } from '../types.js'
import { accept, administrator, answerWallet, genesis, openChain, openers, openRollup } from './rollup.js'
import { contractsOf, deploymentOutput, summonsTerms } from './rollup-contracts.js'

export const summonsContracts = contractsOf(604_800_000n, deploymentOutput, undefined, {
  summons: summonsTerms,
})

/** A question, and the way to what it is about. */
export interface Wanted extends Pick<SummonsQuestion, 'kind' | 'root' | 'key' | 'hash'> {
  readonly steps: Proof
}

/** A question about a chunk. */
export function chunkOf(block: Block, number: number): Wanted {
  const key = new Uint8Array(4)
  new DataView(key.buffer).setUint32(0, number)
  const root = headerFieldIndex.transactionsRoot
  return { kind: 'chunk', root, key, hash: decodeHeader(block.header).transactionsRoot, steps: [] }
}

/** A question about the node of a map on a path. @param branches how many are above it */
export function nodeOf(
  trie: Trie,
  root: number,
  kind: Exclude<SummonsQuestion['kind'], 'chunk'>,
  path: Uint8Array,
  branches: number,
): Wanted {
  const steps = trie.openPath(path).proof.slice(0, branches)
  const depth = steps.reduce((sum, { skip }) => sum + skip + 1, 0)
  const node = trie.nodeAt(path, depth)
  if (node === undefined) throw new Error('The map has no such node')
  return { kind, root, key: nodeKey(path, depth), hash: nodeHash(node, depth), steps }
}

/** The outputs after the newest block. */
export async function outputsOf(store: Store): Promise<Trie> {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  for await (const piece of store.blocks.utxosAfterNewest())
    trie.update(
      piece.map(({ transactionId, index, output }) => ({
        type: 'insert',
        key: encodeOutputReference({ transactionId, index }),
        value: output,
      })),
    )
  return trie
}

/** The transactions map of a block. @param before hashes of the outputs before it */
export async function transactionsOf(
  store: Store,
  block: Block,
  before: (outref: Uint8Array) => Uint8Array | undefined,
): Promise<Trie> {
  const transactions = (await store.blocks.transactionsOf(block.headerHash)).map(({ cbor }) => cbor)
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  await trie.rebuild(deriveBlock(transactions, before).entries())
  return trie
}

interface Asked extends OpenQuestion {
  readonly bytes: Uint8Array
}

export interface Asker {
  /**
   * Asks; resolves when the question is sent. `validUntil`: a slot, by default 60 from now. `encoded`: the
   * datum in another encoding.
   */
  ask(
    block: Block,
    wanted: Wanted,
    validUntil?: bigint,
    encoded?: (datum: Uint8Array) => Uint8Array,
  ): Promise<Asked>
  answersTo(question: OpenQuestion): Promise<readonly AnswerTransaction[]>
  /** Whether questions have answers, and layer 1 shows none. */
  isAnswered(...asked: readonly OpenQuestion[]): Promise<boolean>
  scripts(): readonly Utxo[]
  open(): Promise<readonly string[]>
}

export const referenceOf = ({ utxo }: OpenQuestion): string => outputReferenceKey(utxo.reference)

export async function openAsker(
  store: Store,
  layer1: Layer1,
  wallet: Wallet,
  contracts: Contracts,
): Promise<Asker> {
  const slots = await layer1.slots()
  const scripts = referenceScriptsOf(contracts, await layer1.utxosAt(administratorAddress(contracts)))
  const asker: Asker = {
    async ask(block, { steps, ...wanted }, until, encoded = (datum) => datum) {
      const header = decodeHeader(block.header)
      const blockEnd = firstSlotFrom(slots, header.endTime)
      const wished = until ?? (await layer1.tip()).slot + 60n
      const validUntil = wished < blockEnd ? blockEnd : wished
      const { hash: refund } = wallet.keys.payment
      const question = { ...wanted, headerHash: block.headerHash, refund }
      const redeemer = () => encodeAsk(header, [steps])
      const draft = askQuestions(contracts, { questions: [question], redeemer, validUntil, slots }, scripts)
      const outputs = draft.outputs?.map((output) =>
        output.datum?.kind === 'inline'
          ? { ...output, datum: { kind: 'inline' as const, data: encoded(output.datum.data) } }
          : output,
      )
      const { produced, bytes } = await wallet.send({ ...draft, ...(outputs && { outputs }) })
      const [asked] = readQuestions(contracts, produced)
      if (asked === undefined) throw new Error('There is no question')
      return { ...asked, bytes }
    },
    async isAnswered(...asked) {
      const recorded = await Promise.all(asked.map(asker.answersTo))
      const areRecorded = recorded.every((sent) => sent.some(({ stage }) => stage === 'answer'))
      return areRecorded && (await asker.open()).length === 0
    },
    answersTo: ({ utxo }) => store.answers.of([encodeOutputReference(utxo.reference)]),
    scripts: () => scripts,
    async open() {
      const policy = contracts.summons?.policy ?? ''
      return readQuestions(contracts, await layer1.utxosByPolicy(policy)).map(referenceOf)
    },
  }
  return asker
}

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
