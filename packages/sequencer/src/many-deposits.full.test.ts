import { monitorEventLoopDelay } from 'node:perf_hooks'
import { toOutput } from '@ratatosk/ledger/builder'
import { draftDeposit } from '@ratatosk/protocol'
import { chain as chainOf } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { openRoots } from './roots/index.js'
import { ada, contracts } from './settler/test/bridge-chain.js'
import { accept } from './test/accept.js'
import { everythingMerged, expectAgreement, until } from './test/agreement.js'
import { genesisTime, openChain, openers, openRollup, user } from './test/rollup.js'

const count = Number(process.env.RATATOSK_DEPOSITS ?? 2000)
const slots = { zeroTime: BigInt(genesisTime), zeroSlot: 0n, slotLength: 1000 }
/** In the future of a chain that begins 1,000 s after its genesis. */
const validUntil = 2000n

/** A deposit as layer 1 has it, whose id is that of an input of its own. */
function depositOutput(index: number): Uint8Array {
  const reference = { transactionId: new Uint8Array(32).fill(index >> 16), index: index & 0xffff }
  const { outputs = [] } = draftDeposit(contracts, {
    firstInput: { reference } as never,
    to: user.address,
    lovelace: 20n * ada,
    validUntil,
    slots,
  })
  const { assets = new Map(), lovelace = 0n, datum = { kind: 'none' } } = outputs[0]!
  const { address } = contracts.bridge.place
  return toOutput({ address, value: { lovelace, assets }, datum }).bytes
}

test(`one block credits ${count} deposits`, { timeout: 60_000 + 20 * count }, async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const outputs = Array.from({ length: count }, (_, index) => depositOutput(index))
  const chain = await openChain(context, { requestTimeoutMs: 30_000, callTimeoutMs: 60_000 }, outputs)
  const stop = chain.keepMining()
  const bridge = contracts.bridge.place.script.hash
  const roots = await openRoots({ bridge })
  const options = {
    contracts,
    roots,
    autoMerge: true,
    blockValidityMs: 60_000,
    operationTimeoutMs: 300_000,
    leaseMs: 60_000,
  }
  const { sequencer } = await openRollup(context, store, chain.layer1, options)
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  await stop()
  chain.clock.time = genesisTime + (Number(validUntil) + 81) * 1000
  await chain.mine()
  const stopAgain = chain.keepMining({ empty: false })
  const before = process.resourceUsage().maxRSS
  const turns = monitorEventLoopDelay({ resolution: 10 })
  turns.enable()
  const since = performance.now()
  expect(await sequencer.run('commit')).toEqual(expect.objectContaining({ kind: 'committed' }))
  const ms = performance.now() - since
  turns.disable()
  console.log(
    `${count} deposits in one block: ${Math.round(ms)} ms, the longest turn ` +
      `${Math.round(turns.max / 1e6)} ms; at most ` +
      `${Math.round(process.resourceUsage().maxRSS / 1024)} MiB, ${Math.round(before / 1024)} before`,
  )
  await stopAgain()
  context.onTestFinished(chain.keepMining())
  const newest = await store.blocks.newest()
  const credited = await store.blocks.depositsOf(newest!.headerHash)
  expect(credited).toHaveLength(count)
  const last = { transactionId: credited.at(-1)!.id, index: 0 }
  const [spending] = chainOf(user, last, 20n * ada, 1)
  await accept(store, [spending!])
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed' })
  await until(() => everythingMerged(store))
  await expectAgreement(store, chain.layer1, roots, [spending!], contracts)
})
