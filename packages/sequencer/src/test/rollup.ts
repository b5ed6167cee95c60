import { CborWriter, toHex } from '@ratatosk/cbor'
import { endOfTurn } from '@ratatosk/contracts'
import { createDevnet, type Devnet } from '@ratatosk/devnet'
import {
  createDevnetLayer1,
  keyAuthority,
  type Layer1,
  type Layer1Limits,
  openWallet,
  type Wallet,
} from '@ratatosk/layer1'
import type { WalletKeys } from '@ratatosk/ledger/builder'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { initRegistry, readStateQueue } from '@ratatosk/protocol'
import { openQueueBackend } from '@ratatosk/queue'
import { openStore, type Store } from '@ratatosk/store'
import { chain, fundsOf, keyOf, logOf, type SignedTransaction } from '@ratatosk/test-kit'
import { serviceOpeners } from '@ratatosk/test-kit/vitest'
import type { TestContext } from 'vitest'
import { createSequencer } from '../create-sequencer.js'
import { openRoots, type Roots } from '../roots/index.js'
import { answerKeys } from '../summons/answer-wallet.js'
import type { Sequencer, SequencerOptions } from '../types.js'
import { acceptingAll } from './accept.js'
import { administratorKeys, contractsOf, operatorKeys } from './rollup-contracts.js'

export const openers = serviceOpeners({ openStore, openQueueBackend })

const startTime = 1_700_000_040_000
/** The first slot of layer 1, POSIX milliseconds. */
export const genesisTime = startTime - 1_000_000
/** One for all tests of a vitest worker, with which it ends: its threads are slow to start. */
export const evaluator = createEvaluator({ threads: 1 })

export const contracts = contractsOf(20_000n)

export { accept } from './accept.js'

/**
 * Rounds of 5 ms between two empty blocks. Time passes 25 times as fast as it does: a block that a busy
 * machine is slow to build is still valid when it is sent.
 */
const idleRounds = 8

const limits = { requestTimeoutMs: 60, callTimeoutMs: 2000, attempts: 2, backoffMs: 1, pollMs: 5 }

/** A layer 1 whose time passes a second a block, and which makes blocks on request. */
export interface TestChain {
  /** POSIX milliseconds; layer 1 never goes back behind its tip. */
  readonly clock: { time: number }
  readonly devnet: Devnet
  readonly layer1: Layer1
  mine(blocks?: number): Promise<void>
  /** Makes blocks until a condition holds, 1,000 at most. */
  mineUntil(condition: () => boolean): Promise<void>
  /** Goes to the beginning of an operator's turn, so that a block need not wait for it. */
  nextTurn(): Promise<void>
  /** Makes a block of what waits, until it is ended; with `empty`, an empty one now and then. */
  keepMining(options?: { readonly empty?: boolean }): () => Promise<void>
}

/** `outputs`: more of them in the genesis of layer 1, CBOR. */
export async function openChain(
  context: TestContext,
  given: Layer1Limits = {},
  outputs: readonly Uint8Array[] = [],
): Promise<TestChain> {
  const clock = { time: startTime, now: () => clock.time }
  const utxos = [administratorKeys, operatorKeys].flatMap(({ address }, wallet) =>
    Array.from({ length: 5 }, (_, index) => ({
      outref: `${'11'.repeat(32)}#${wallet * 5 + index}`,
      output: toHex(
        new CborWriter().map(2).uint(0).bytes(address.bytes).uint(1).uint(10_000_000_000n).toBytes(),
      ),
    })),
  )
  const more = outputs.map((output, index) => ({
    outref: `${(index >> 16).toString(16).padStart(64, '2')}#${index & 0xffff}`,
    output: toHex(output),
  }))
  const genesis = { startTime: genesisTime, networkMagic: 42, utxos: [...utxos, ...more] }
  const devnet = await createDevnet({ blockEveryMs: 0, clock, evaluator, genesis })
  context.onTestFinished(() => devnet.close())
  async function mine(blocks = 1): Promise<void> {
    for (let made = 0; made < blocks; made++) {
      clock.time += 1000
      await devnet.produceBlock()
    }
  }
  const layer1 = createDevnetLayer1(devnet, { ...limits, ...given })
  // Time passes faster here than threads start.
  const [output] = await layer1.utxosByReferences([contracts.parameters.deploymentOutput])
  await wallet(layer1, administratorKeys).build(initRegistry(contracts, output!))
  return {
    clock,
    devnet,
    layer1,
    mine,
    async mineUntil(condition) {
      for (let made = 0; !condition(); made++) {
        if (made === 1000)
          throw new Error(`Not reached after 1,000 blocks: ${condition.toString().slice(0, 300)}`)
        await mine()
      }
    },
    async nextTurn() {
      const { turnLength } = contracts.parameters
      clock.time = Number(endOfTurn(BigInt(clock.time), turnLength))
      await devnet.produceBlock()
    },
    keepMining({ empty = true } = {}) {
      let ended = false
      const mining = (async () => {
        for (let round = 0; !ended; round++) {
          if (devnet.mempool().length > 0 || (empty && round % idleRounds === 0)) await mine()
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
      })()
      return async () => {
        ended = true
        await mining
      }
    },
  }
}

export const user = keyOf(9)
const ada = 1_000_000n
export const genesis = fundsOf(user, 40, 10n * ada)

/** Transfers of genesis outputs, each a chain of its own. */
export function transfers(count: number, from = 0, length = 1): SignedTransaction[] {
  return genesis
    .slice(from, from + count)
    .flatMap(({ reference }) => chain(user, reference, 10n * ada, length))
}

function wallet(layer1: Layer1, keys: WalletKeys): Wallet {
  return openWallet({ layer1, keys, evaluator, withholdMs: 50 })
}

/** The operator's wallet for answers, as another process would open it. */
export const answerWallet = (layer1: Layer1): Wallet => wallet(layer1, answerKeys(operatorKeys))

/** The administrator's wallet as another process would open it. */
export const administrator = (layer1: Layer1): Wallet => wallet(layer1, administratorKeys)

export interface Rollup {
  readonly sequencer: Sequencer
  readonly roots: Roots
}

/** A sequencer that acts only on request. */
export async function openRollup(
  context: TestContext,
  store: Store,
  layer1: Layer1,
  options: Partial<SequencerOptions> = {},
  awaitLease = true,
): Promise<Rollup> {
  const roots = options.roots ?? (await openRoots())
  const holder = options.holder ?? 'sequencer'
  const log = logOf(holder)
  const sequencer = createSequencer({
    store,
    submissions: acceptingAll(store),
    layer1,
    contracts,
    operator: wallet(layer1, operatorKeys),
    administrator: {
      wallet: wallet(layer1, administratorKeys),
      authority: keyAuthority(administratorKeys.payment),
    },
    roots,
    genesis,
    holder,
    ...(log && { log }),
    autoCommit: false,
    autoMerge: false,
    commitEveryMs: 20,
    mergeEveryMs: 40,
    pollMs: 10,
    blockValidityMs: 60_000,
    leaseMs: 3000,
    operationTimeoutMs: 20_000,
    ...options,
  })
  context.onTestFinished(async () => {
    await sequencer.close()
    await roots.close()
  })
  await sequencer.start()
  while (awaitLease && !sequencer.active) await new Promise((resolve) => sequencer.subscribe(resolve))
  return { sequencer, roots }
}

export async function queueOf(layer1: Layer1, of = contracts) {
  return readStateQueue(of, await layer1.utxosByPolicy(of.scripts.queue.policy))
}
