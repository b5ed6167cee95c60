import { draft, genesisOf, testKey } from '@ratatosk/test-kit/ledger-apis'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createDevnet } from './create-devnet.js'
import { createMemoryStore } from './store/store.js'
import { utxoSet } from './test/scenes.js'
import type { Devnet } from './types.js'

const keys = [testKey(1), testKey(2), testKey(3)]
const genesis = genesisOf(
  keys.map(({ addressBytes }) => addressBytes),
  1_000_000_000n,
)
const clock = { now: () => Date.UTC(2025, 0, 2) }

type Step =
  | { readonly kind: 'pay'; readonly choice: number; readonly to: number }
  | { readonly kind: 'block' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'roll-back'; readonly blocks: number; readonly resubmit: boolean }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('pay' as const), choice: fc.nat(), to: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('block' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('roll-back' as const),
      blocks: fc.integer({ min: 1, max: 3 }),
      resubmit: fc.boolean(),
    }),
  },
)

/** Spends one of the outputs that exist after the mempool, and pays half of it to one of the keys. */
function pay(devnet: Devnet, choice: number, to: number): Uint8Array | undefined {
  const made = devnet
    .mempool()
    .flatMap(({ hash, transaction }) => transaction.body.outputs.map((_, index) => `${hash}#${index}`))
  const open = [...devnet.utxos().map(({ key }) => key), ...made].filter((key) =>
    devnet.pendingUtxos.get(key),
  )
  const input = open[choice % open.length]
  const output = input === undefined ? undefined : devnet.pendingUtxos.get(input)
  const owner = keys.find(
    ({ addressBytes }) => output && Buffer.compare(output.address.bytes, addressBytes) === 0,
  )
  const payee = keys[to]
  if (input === undefined || output === undefined || owner === undefined || payee === undefined)
    return undefined
  const { lovelace } = output.value
  if (lovelace < 5_000_000n) return undefined
  const half = lovelace / 2n
  return draft({
    inputs: [input],
    outputs: [
      { address: payee.addressBytes, lovelace: half },
      { address: owner.addressBytes, lovelace: lovelace - half - 200_000n },
    ],
    fee: 200_000n,
    signers: [owner],
  }).cbor
}

it('has the same outputs at a height after any payments, blocks, roll-backs and restarts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const store = createMemoryStore()
      const reopen = () => createDevnet({ store, genesis, clock, blockEveryMs: 0 })
      let devnet = await reopen()
      // The unspent outputs by height, when the block was made.
      const history = [utxoSet(devnet)]
      for (const next of steps) {
        if (next.kind === 'pay') {
          const cbor = pay(devnet, next.choice, next.to)
          if (cbor !== undefined) expect(await devnet.submit(cbor)).toMatchObject({ kind: 'accepted' })
        } else if (next.kind === 'block') {
          const { height } = await devnet.produceBlock()
          history[height] = utxoSet(devnet)
        } else if (next.kind === 'restart') {
          const before = { tip: devnet.tip(), pending: devnet.mempool().map(({ hash }) => hash) }
          await devnet.close()
          devnet = await reopen()
          expect({ tip: devnet.tip(), pending: devnet.mempool().map(({ hash }) => hash) }).toEqual(before)
        } else if (next.blocks <= devnet.tip().height) {
          const { resubmit } = next
          await devnet.rollBack(next.blocks, { resubmit })
        }
        expect(utxoSet(devnet)).toEqual(history[devnet.tip().height])
      }
      await devnet.close()
    }),
    { numRuns: Number(process.env.DEVNET_PROPERTY_RUNS ?? 40) },
  )
}, 60_000)
