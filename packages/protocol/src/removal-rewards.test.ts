import { afterEach, expect, it } from 'vitest'
import { openContracts } from './contracts.js'
import { registerOperator, retireOperator } from './registry-drafts.js'
import { removeInvalidBlock } from './removal-drafts.js'
import {
  begin,
  bond,
  commitInTurn,
  contracts,
  lovelaceOf,
  openScene,
  operator,
  otherKeys,
  prove,
} from './test/protocol-scene.js'
import { convict, invalidRoot } from './test/verdict-policy.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
const invalid = { transactionsRoot: invalidRoot }
const rejected = { code: 'LAYER1_REJECTED' }

/** The only operator commits fraud. `removal` is what a prover sends against it. */
async function openFraud() {
  const scene = await openScene()
  closing.push(() => scene.devnet.close())
  const referenceScripts = await begin(scene, true)
  const { header, headerHash } = await commitInTurn(scene, referenceScripts, invalid)
  const [queue, registry, verdict] = [await scene.queue(), await scene.registry(), convict(header)]
  const wanted = { queue, registry, headerHash, verdict, referenceScripts }
  const reward = bond + lovelaceOf(queue.blocks[0]!.utxo)
  return { scene, ...wanted, removal: removeInvalidBlock(contracts, wanted), reward }
}

it('the reward is of whoever sends the removal first, and the second pays nothing', async () => {
  const { scene, removal, reward } = await openFraud()
  const { run, wallet, otherWallet } = scene
  const [own, others] = [(await wallet.balance()).lovelace, await otherWallet.balance()]
  const { fee } = await run(removal, wallet)
  expect((await wallet.balance()).lovelace).toBe(own + reward - fee)
  await expect(otherWallet.send(removal)).rejects.toMatchObject(rejected)
  expect(await otherWallet.balance()).toEqual(others)
})

it.each([
  ['another operator registers', 'registers'],
  ['the guilty operator retires', 'retires'],
] as const)('if %s before the removal, it is built again and brings as much', async (_what, change) => {
  const { scene, registry, headerHash, verdict, referenceScripts, removal, reward } = await openFraud()
  const { run, wallet, otherWallet } = scene
  const other = otherKeys.payment
  if (change === 'registers') {
    const draft = registerOperator(contracts, registry, other.hash, scene.validity(), referenceScripts)
    await run(draft, wallet, [other])
  } else {
    const validity = scene.validity()
    await run(retireOperator(contracts, registry, operator, validity, 'operator', referenceScripts))
  }
  const stale = await otherWallet.build(removal)
  await expect(otherWallet.submit(stale)).rejects.toMatchObject(rejected)
  otherWallet.release(stale.id)
  const { gain } = await prove(scene, headerHash, verdict, referenceScripts)
  expect(gain).toBe(reward)
  const left = (await scene.registry()).datum.operators.map(({ vkey }) => vkey)
  expect(left).toEqual(change === 'registers' ? [other.hash] : [])
})

it.each([
  ['no penalty', 0n],
  ['a penalty of 100 ada', 100_000_000n],
])('an operator who proves the own fraud pays the fees and %s each time', async (_what, slashPenalty) => {
  const own = openContracts({ ...contracts.parameters, slashPenalty }, 0)
  const scene = await openScene(own)
  closing.push(() => scene.devnet.close())
  const { run, wallet, queue, registry, validity } = scene
  const referenceScripts = await begin(scene, true)
  const ada = async () => ({
    wallet: (await wallet.balance()).lovelace,
    registry: lovelaceOf((await registry()).utxo),
    root: lovelaceOf((await queue()).roots[0]!.utxo),
  })
  const before = await ada()
  const rounds = 3n
  let fees = 0n
  for (let round = 0n; round < rounds; round++) {
    const fraud = await commitInTurn(scene, referenceScripts, invalid)
    const element = lovelaceOf((await queue()).blocks[0]!.utxo)
    const verdict = convict(fraud.header)
    const removed = await prove(scene, fraud.headerHash, verdict, referenceScripts, wallet)
    expect(removed.gain).toBe(bond + element - slashPenalty)
    const again = registerOperator(own, await registry(), operator, validity(), referenceScripts)
    fees += fraud.built.fee + removed.built.fee + (await run(again)).fee
  }
  const after = await ada()
  expect(after.registry - before.registry).toBe(rounds * slashPenalty)
  // The first link that the root gets takes room for ever.
  const room = after.root - before.root
  expect(before.wallet - after.wallet).toBe(fees + rounds * slashPenalty + room)
  expect(fees + room).toBeLessThan(rounds * 1_100_000n)
  expect((await registry()).datum.operators).toMatchObject([{ vkey: operator, bond }])
})
