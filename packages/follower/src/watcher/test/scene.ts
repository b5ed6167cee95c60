import type { Header } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { openWallet, type Wallet } from '@ratatosk/layer1'
import type { ProtocolParameters, Utxo } from '@ratatosk/ledger'
import type { WalletKeys } from '@ratatosk/ledger/builder'
import { type Contracts, publishScripts, referenceScriptsOf, scriptsToPublish } from '@ratatosk/protocol'
import { openStore, type Store } from '@ratatosk/store'
import { logOf } from '@ratatosk/test-kit'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { onTestFinished } from 'vitest'
import { type Committed, type Story, tellStory } from '../../../../protocol/dist/fraud/test/lying-blocks.js'
import {
  begin,
  commit,
  evaluator,
  keys,
  openScene,
  otherKeys,
  provableContracts,
  type Scene,
} from '../../../../protocol/dist/test/protocol-scene.js'
import type { InvalidBlock } from '../../index.js'
import { createWatcher, type Watcher, type WatcherOptions } from '../index.js'
import { type Answerer, type AnswererOptions, openAnswerer } from './answerer.js'
import { followQueue, type Withheld } from './follow-queue.js'
import { honest, invalidBlock } from './lies.js'

export { evaluator, keys, otherKeys }

export const bond = 500_000_000n

/** An operator's queue on a devnet that makes blocks all the time, and what lies about. */
export interface Watched {
  readonly scene: Scene
  readonly store: Store
  readonly story: Story
  readonly parameters: ProtocolParameters
  readonly referenceScripts: readonly Utxo[]
  /** Commits a block, as it is given to a watcher. */
  commit(block: Committed): Promise<InvalidBlock>
  /** Commits a block that says what a block after it is. */
  commitNext(): Promise<void>
  /** Header hashes in the queue, in hex. */
  queued(): Promise<readonly string[]>
  /** Ends the making of blocks, until the returned function is called. */
  stopMining(): Promise<() => void>
  pass(ms: bigint): Promise<void>
}

/** The verdict that was recorded last. */
export const newest = async ({ store }: Pick<Watched, 'store'>) =>
  (await store.verdicts.list({ limit: 1 })).verdicts[0]

export const isRemoved = async (watched: Pick<Watched, 'store'>) =>
  (await newest(watched))?.state === 'removed'

export async function openWatched(
  own: { readonly store?: Store; readonly contracts?: Contracts } = {},
): Promise<Watched> {
  const { contracts = provableContracts } = own
  const scene = await openScene(contracts)
  onTestFinished(() => scene.devnet.close())
  const { devnet, clock, layer1, slots, run } = scene
  const store = own.store ?? (await openTestStore(openStore))
  const parameters = await layer1.parameters()
  const story = await tellStory(parameters, slots)
  const scripts = await begin(scene, true, honest(story).roots.prevUtxosRoot)
  const published: Utxo[] = [...scripts]
  for (const group of scriptsToPublish(contracts, scripts))
    published.push(...(await run(publishScripts(contracts, group))).produced)
  const referenceScripts = referenceScriptsOf(contracts, published)

  let isMining = true
  let ended = false
  let mined: Promise<void> = Promise.resolve()
  const mining = (async () => {
    for (let round = 0; !ended; round++) {
      if (isMining && (devnet.mempool().length > 0 || round % 10 === 0)) {
        mined = (async () => {
          clock.time += 1000
          await devnet.produceBlock()
        })()
        await mined
      }
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })()
  onTestFinished(async () => {
    ended = true
    await mining
  })
  const stopMining = async () => {
    isMining = false
    await mined
    return () => {
      isMining = true
    }
  }
  const commitWith = async (roots: Partial<Header>) => {
    const resume = await stopMining()
    try {
      return await commit(scene, referenceScripts, roots)
    } finally {
      resume()
    }
  }
  return {
    scene,
    store,
    story,
    parameters,
    referenceScripts,
    stopMining,
    commit: async (block) => invalidBlock(block, (await commitWith(block.roots)).header),
    commitNext: async () => {
      await commitWith({})
    },
    async pass(ms) {
      const resume = await stopMining()
      clock.time += Number(ms)
      resume()
    },
    queued: async () => (await scene.queue()).blocks.map(({ headerHash }) => toHex(headerHash)),
  }
}

/** A watcher of blocks, with the stand-in of a follower. */
interface OpenWatcher {
  readonly watcher: Watcher
  readonly wallet: Wallet
  /** Codes and messages of its log, errors only. */
  readonly errors: string[]
  close(): Promise<void>
}

export function openWatcher(
  { scene, store, parameters }: Pick<Watched, 'scene' | 'store' | 'parameters'>,
  blocks: readonly InvalidBlock[],
  options: Partial<WatcherOptions> & {
    readonly walletKeys?: WalletKeys
    readonly name?: string
    /** Those of `blocks` whose bodies no peer serves. */
    readonly withheld?: Withheld
    /** Follows the queue instead of the stand-in of a follower. */
    readonly follow?: (watcher: Watcher) => { close(): Promise<void> }
  } = {},
): OpenWatcher {
  const { walletKeys = otherKeys, name = 'watcher', withheld, follow, ...others } = options
  const { contracts } = scene
  const layer1 = others.layer1 ?? scene.layer1
  const wallet = openWallet({ layer1, keys: walletKeys, evaluator, withholdMs: 50 })
  const errors: string[] = []
  const output = logOf(name)
  const log = {
    info: (fields: object, message: string) => output?.info(fields, message),
    warn: (fields: object, message: string) => output?.warn(fields, message),
    error(fields: object, message: string) {
      const code = 'code' in fields ? String(fields.code) : 'none'
      errors.push(`${code}: ${message}`)
      output?.error(fields, message)
    },
  }
  const { slots } = scene
  const watcher = createWatcher({
    contracts,
    rules: { parameters, networkId: 0, slots },
    layer1,
    wallet,
    verdicts: store.verdicts,
    archive: store.archive,
    evaluator,
    log,
    pollMs: 20,
    validityMs: 600_000,
    ...others,
  })
  const following = follow?.(watcher) ?? followQueue(layer1, contracts, watcher, blocks, withheld)
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= following.close().then(() => watcher.close())
    return closed
  }
  onTestFinished(close)
  return { watcher, wallet, errors, close }
}

export async function until(what: string, check: () => Promise<boolean> | boolean, timeoutMs = 120_000) {
  const end = Date.now() + timeoutMs
  while (!(await check())) {
    if (Date.now() > end) throw new Error(`Not within ${timeoutMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Answers questions about a block until the test ends. */
export async function openOperator(
  { scene, referenceScripts }: Watched,
  committed: Committed,
  options: AnswererOptions = {},
): Promise<Answerer> {
  const operator = await openAnswerer({ ...scene, referenceScripts, ...options }, committed)
  onTestFinished(() => operator.close())
  return operator
}
