import { toHex } from '@ratatosk/cbor'
import { keyAddress } from '@ratatosk/ledger'
import { describe, expect, it } from 'vitest'
import { openContracts, publishScripts, verdictPoliciesOf } from './contracts.js'
import { initQueue, initRollup, mergeBlock } from './queue-drafts.js'
import { initRegistry, registerOperator, retireOperator } from './registry-drafts.js'
import {
  burnElements,
  maxPrunedBlocks,
  pruneBlocks,
  removeBlock,
  removeInvalidBlock,
  soundBlocks,
  staleBlocks,
  type Verdict,
} from './removal-drafts.js'
import {
  begin,
  bond,
  commit,
  commitInTurn,
  contracts,
  convict,
  freeContracts,
  invalidRoot,
  keys,
  lovelaceOf,
  operator,
  otherKeys,
  prove,
  stateAt,
  summonsContracts,
  verdictPolicy,
} from './test/protocol-scene.js'
import { openClosedAfter } from './test/scenes.js'

async function openBegun() {
  const scene = await openClosedAfter()
  return { scene, referenceScripts: await begin(scene, true) }
}

const invalid = { transactionsRoot: invalidRoot }

it('makes the scripts of verdicts once for their parameters', () => {
  const once = verdictPoliciesOf(summonsContracts.parameters)
  expect(once.at(-1)).toBeDefined()
  expect(verdictPoliciesOf(summonsContracts.parameters).at(-1)).toBe(once.at(-1))
})

describe('a removal by a verdict', () => {
  it('takes verdict, removal and slash in one transaction, and the bond goes to the prover', async () => {
    const { scene, referenceScripts } = await openBegun()
    const { queue, registry, run, otherWallet } = scene
    const honest = await commit(scene, referenceScripts)
    const fraud = await commit(scene, referenceScripts, invalid)
    const successor = await commit(scene, referenceScripts)
    const element = (await queue()).blocks[1]!.utxo
    const before = lovelaceOf((await registry()).utxo)

    const { gain } = await prove(scene, fraud.headerHash, convict(fraud.header), referenceScripts)
    expect(gain).toBe(bond + lovelaceOf(element))
    expect((await registry()).datum).toMatchObject({ operators: [], running: true })
    expect(lovelaceOf((await registry()).utxo)).toBe(before - bond)

    const left = await queue()
    expect(left.fault).toBeUndefined()
    const [first, second] = left.blocks
    expect([first, second].map((block) => block?.headerHash)).toEqual([
      honest.headerHash,
      successor.headerHash,
    ])
    expect(staleBlocks(left)).toEqual({ element: first, blocks: [second] })
    expect(soundBlocks(left)).toEqual([first])
    await run(pruneBlocks(contracts, left, referenceScripts), otherWallet)
    expect((await queue()).blocks.map(({ headerHash }) => headerHash)).toEqual([honest.headerHash])
    expect(staleBlocks(await queue())).toBeUndefined()
    expect(soundBlocks(await queue())).toEqual((await queue()).blocks)

    // The honest block matures and is merged as if nothing had happened.
    scene.nextTurn()
    scene.nextTurn()
    const { devnet, slots } = scene
    await run(
      mergeBlock(contracts, { queue: await queue(), slot: devnet.currentSlot(), slots, referenceScripts }),
      otherWallet,
    )
    expect((await queue()).roots[0]!.datum.state.headerHash).toEqual(honest.headerHash)
  })

  it('takes the ada of a second block of a slashed operator, by a verdict minted earlier', async () => {
    const { scene, referenceScripts } = await openBegun()
    const { queue, registry, run, otherWallet, layer1 } = scene
    const first = await commit(scene, referenceScripts, invalid)
    const second = await commit(scene, referenceScripts, invalid)
    const verdict = convict(second.header)
    if (verdict.kind !== 'minted') throw new Error('not minted')
    const name = new Map([[toHex(second.headerHash), 1n]])
    const policy = toHex(verdictPolicy.hash)
    const minted = await run(
      {
        mint: [{ policy, assets: name, redeemer: verdict.redeemer }],
        scripts: [verdictPolicy],
        outputs: [{ address: keys.address.bytes, assets: new Map([[policy, name]]) }],
      },
      otherWallet,
    )
    await prove(scene, first.headerHash, convict(first.header), referenceScripts)
    const [utxo] = await layer1.utxosByReferences([minted.produced[0]!.reference])
    const element = (await queue()).blocks[0]!.utxo
    const { gain } = await prove(scene, second.headerHash, { kind: 'held', utxo: utxo! }, referenceScripts)
    expect(gain).toBe(lovelaceOf(element))
    expect((await queue()).blocks).toEqual([])
    expect((await registry()).datum.operators).toEqual([])
  })

  it('is not drafted by a policy that is not listed, or by an output without the verdict', async () => {
    const { scene, referenceScripts } = await openBegun()
    const { headerHash } = await commit(scene, referenceScripts)
    const wanted = { queue: await scene.queue(), registry: await scene.registry(), headerHash }
    const other = { ...verdictPolicy, hash: new Uint8Array(28).fill(1) }
    const unlisted: Verdict = { kind: 'minted', policy: other, redeemer: Uint8Array.of(0) }
    const empty: Verdict = { kind: 'held', utxo: wanted.registry.utxo }
    for (const verdict of [unlisted, empty]) {
      expect(() => removeInvalidBlock(contracts, { ...wanted, verdict })).toThrow(
        expect.objectContaining({ code: 'WALLET_INVALID_DRAFT' }),
      )
    }
    expect(() => pruneBlocks(contracts, wanted.queue)).toThrow('no block is stale')
  })
})

describe('pruneBlocks', () => {
  it(`prunes ${maxPrunedBlocks} blocks in one transaction, also with the script as witness`, async () => {
    const { scene, referenceScripts } = await openBegun()
    const { queue, run, otherWallet } = scene
    for (let count = 0; count < maxPrunedBlocks + 2; count++) await commit(scene, referenceScripts)
    const [first, second, ...others] = (await queue()).blocks
    await run(removeBlock(contracts, await queue(), second!.headerHash, referenceScripts))
    const removed = await queue()
    expect(staleBlocks(removed)?.blocks).toHaveLength(maxPrunedBlocks)

    const inWitness = await otherWallet.build(pruneBlocks(contracts, removed))
    otherWallet.release(inWitness.id)
    const before = (await otherWallet.balance()).lovelace
    const { fee, produced } = await run(pruneBlocks(contracts, removed, referenceScripts), otherWallet)
    expect((await otherWallet.balance()).lovelace).toBe(before - fee)
    const refunds = produced.slice(1, 1 + others.length)
    expect(refunds.map(lovelaceOf)).toEqual(others.map(({ utxo }) => lovelaceOf(utxo)))
    expect(refunds.map(({ output }) => output.address.bytes)).toEqual(
      others.map(({ datum }) => keyAddress(datum.header.operatorVkey, 0).bytes),
    )
    expect((await queue()).blocks.map(({ headerHash }) => headerHash)).toEqual([first!.headerHash])
  })
})

describe('a renounced administrator', () => {
  it('starts registry and queue at once, and nothing needs one afterwards', async () => {
    const scene = await openClosedAfter(freeContracts)
    const { run, registry, queue, layer1, slots, devnet, validity, wallet } = scene
    const [deploymentOutput] = await layer1.utxosByReferences([freeContracts.parameters.deploymentOutput])
    const state = stateAt(BigInt(scene.clock.time))
    await run(initRollup(freeContracts, deploymentOutput!, state))
    const published = await run(publishScripts(freeContracts))
    const referenceScripts = published.produced.slice(0, 2)
    expect((await registry()).datum).toMatchObject({ operators: [], running: true })
    for (const { payment } of [keys, otherKeys]) {
      const by = payment === keys.payment ? wallet : scene.otherWallet
      const draft = registerOperator(
        freeContracts,
        await registry(),
        payment.hash,
        validity(),
        referenceScripts,
      )
      await run(draft, by)
    }
    const turns = 3
    for (let count = 0; count < turns; count++) scene.nextTurn()
    const fraud = await commitInTurn(scene, referenceScripts, invalid)
    const { gain } = await prove(scene, fraud.headerHash, convict(fraud.header), referenceScripts)
    expect(gain).toBeGreaterThan(bond - freeContracts.parameters.slashPenalty!)
    expect(gain).toBeLessThan(bond - freeContracts.parameters.slashPenalty! + 10_000_000n)
    expect((await registry()).datum.operators.map(({ vkey }) => vkey)).toEqual([otherKeys.payment.hash])

    const renounced = expect.objectContaining({ code: 'PROTOCOL_ADMINISTRATOR_RENOUNCED' })
    const stopped = { ...(await registry()) }
    const sound = await queue()
    const idle = { ...stopped, datum: { ...stopped.datum, running: false } }
    expect(() => initRegistry(freeContracts, deploymentOutput!)).toThrow(renounced)
    expect(() => initQueue(freeContracts, idle, state)).toThrow(renounced)
    expect(() => burnElements(freeContracts, [sound.roots[0]!.utxo], stopped)).toThrow(renounced)
    const other = otherKeys.payment.hash
    expect(() => retireOperator(freeContracts, stopped, other, validity(), 'administrator')).toThrow(
      renounced,
    )
    expect(() => initRollup(contracts, deploymentOutput!, state)).toThrow('there is an administrator')
    expect(slots).toBe(devnet.slots)
  })
})

it('refuses to deposit a bond with a registry that names another queue', async () => {
  const { scene } = await openBegun()
  const element = await scene.registry()
  const foreign = { ...element, datum: { ...element.datum, queue: new Uint8Array(28).fill(1) } }
  const join = () => registerOperator(contracts, foreign, otherKeys.payment.hash, scene.validity())
  expect(join).toThrow('the registry names another queue')
})

const rejected = { code: 'LAYER1_REJECTED' }

/** The only operator commits fraud. `removal` is what a prover sends against it. */
async function openFraud() {
  const scene = await openClosedAfter()
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
  const scene = await openClosedAfter(own)
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
