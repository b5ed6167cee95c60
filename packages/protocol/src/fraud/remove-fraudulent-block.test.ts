import {
  chunkKey,
  decodeTransactionRecord,
  deriveBlock,
  encodeChunkRecord,
  encodeTransactionRecord,
  headerHash,
  transactionKey,
} from '@ratatosk/block'
import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { ledgerFraudScript, witnessFraudScript } from '@ratatosk/contracts'
import { blake2b256, decodeTransaction, type Utxo } from '@ratatosk/ledger'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openContracts, publishScripts, referenceScriptsOf } from '../contracts.js'
import { pruneBlocks, removeInvalidBlock } from '../removal-drafts.js'
import {
  begin,
  bond,
  commit,
  provableContracts as contracts,
  evaluator,
  openScene,
  contracts as otherContracts,
  otherKeys,
  type Scene,
} from '../test/protocol-scene.js'
import { type Accusation, accuse } from './accused-block.js'
import { findLedgerFraud, ledgerFrauds } from './find-ledger-fraud.js'
import { encodeLedgerFraudProof } from './ledger-proofs.js'
import { removeFraudulentBlock, requireAccepted } from './remove-fraudulent-block.js'
import { movedParts } from './shapes.js'
import { lieOf } from './test/lies/index.js'
import {
  accusation,
  blockOf,
  type Committed,
  framesOf,
  lyingSuccessor,
  type Story,
  tellStory,
} from './test/lying-blocks.js'
import { theft } from './test/theft.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
let story: Story
let honest: Committed
beforeAll(async () => {
  const { devnet, layer1, slots } = await openScene(contracts)
  story = await tellStory(await layer1.parameters(), slots)
  honest = blockOf(story.transactions)
  await devnet.close()
})
const lies = [
  'wrongOutputsAfter',
  'inputSpentElsewhere',
  'inventedOutput',
  'strayFromBefore',
  'wrongFees',
].map(lieOf)
const told = (fraud: string) => lieOf(fraud).tell(story)

/** A queue that starts with the outputs before the blocks, and the policy of fraud proofs by reference. */
async function openBegun() {
  const scene = await openScene(contracts)
  closing.push(() => scene.devnet.close())
  const scripts = await begin(scene, true, honest.roots.prevUtxosRoot)
  const { produced } = await scene.run(publishScripts(contracts, [ledgerFraudScript()]))
  const referenceScripts = referenceScriptsOf(contracts, [...scripts, ...produced])
  expect(referenceScripts).toHaveLength(3)
  return { scene, referenceScripts }
}

const judgementOf = async ({ layer1, devnet, slots }: Scene) => ({
  parameters: await layer1.parameters(),
  slots,
  slot: devnet.currentSlot(),
  evaluator,
})

async function removalOf(scene: Scene, block: Accusation, referenceScripts: readonly Utxo[]) {
  const wanted = {
    block: await accuse(block),
    queue: await scene.queue(),
    registry: await scene.registry(),
    referenceScripts,
  }
  return removeFraudulentBlock(contracts, wanted, await judgementOf(scene))
}

/** The prover is a stranger to the rollup. */
async function prove(scene: Scene, block: Accusation, referenceScripts: readonly Utxo[]) {
  const removal = await removalOf(scene, block, referenceScripts)
  if (removal === undefined) throw new Error('no fraud was found')
  const { run, otherWallet } = scene
  const before = (await otherWallet.balance()).lovelace
  const built = await run(removal.draft, otherWallet)
  const gain = (await otherWallet.balance()).lovelace - before + built.fee
  return { fraud: removal.fraud, gain, built }
}

const lovelaceOf = ({ output }: Utxo) => output.value.lovelace

describe('removeFraudulentBlock', () => {
  it.each(lies)('takes the bond of an operator who claims $what', async ({ tell, fraud }) => {
    const { scene, referenceScripts } = await openBegun()
    const { queue, registry, run, otherWallet } = scene
    const block = tell(story)
    const lie = await commit(scene, referenceScripts, block.roots)
    await commit(scene, referenceScripts)
    await commit(scene, referenceScripts)
    const element = (await queue()).blocks[0]!.utxo
    const before = lovelaceOf((await registry()).utxo)

    const { after: _, ...withoutAfter } = accusation(block, lie.header)
    const needsNoAfter = await removalOf(scene, withoutAfter, referenceScripts)
    expect(needsNoAfter?.fraud).toBe(fraud === 'wrongOutputsAfter' ? undefined : fraud)
    const proven = await prove(scene, accusation(block, lie.header), referenceScripts)
    expect(proven.fraud).toBe(fraud)
    expect(proven.gain).toBe(bond + lovelaceOf(element))
    expect(proven.built.transaction.body.mint.get(toHex(ledgerFraudScript().hash))).toEqual(
      new Map([[toHex(lie.headerHash), 1n]]),
    )
    expect((await registry()).datum.operators).toEqual([])
    expect(lovelaceOf((await registry()).utxo)).toBe(before - bond)

    await run(pruneBlocks(contracts, await queue(), referenceScripts), otherWallet)
    const { blocks, fault } = await queue()
    expect(blocks).toEqual([])
    expect(fault).toBeUndefined()
  })

  it('drafts nothing that is too long for a wallet, or by a policy that is not listed', async () => {
    const { scene, referenceScripts } = await openBegun()
    const block = told('wrongOutputsAfter')
    const { header } = await commit(scene, referenceScripts, block.roots)
    const accused = await accuse(accusation(block, header))
    const [queue, registry] = [await scene.queue(), await scene.registry()]
    const wanted = { block: accused, queue, registry, referenceScripts }
    const judgement = await judgementOf(scene)
    const { draft } = (await removeFraudulentBlock(contracts, wanted, judgement))!
    const validUntil = judgement.slot + 100n
    const { bytes } = await scene.otherWallet.build({ ...draft, validUntil })
    const parameters = { ...judgement.parameters, maxTransactionSize: bytes.length - 1 }
    const none = { ...contracts, parameters: { ...contracts.parameters, verdictPolicies: [] } }
    await expect(removeFraudulentBlock(none, wanted, judgement)).rejects.toMatchObject({
      code: 'WALLET_INVALID_DRAFT',
    })
    const shorter = await removeFraudulentBlock(contracts, wanted, { ...judgement, parameters })
    expect(shorter?.stage).toBe('verdict')
  })

  it('removes a second lie of an operator who is already slashed', async () => {
    const { scene, referenceScripts } = await openBegun()
    const block = told('wrongOutputsAfter')
    const next = lyingSuccessor(block)
    const first = await commit(scene, referenceScripts, block.roots)
    const second = await commit(scene, referenceScripts, next.roots)
    await prove(scene, accusation(block, first.header), referenceScripts)
    const element = (await scene.queue()).blocks[0]!.utxo
    const { gain } = await prove(scene, accusation(next, second.header), referenceScripts)
    expect(gain).toBe(lovelaceOf(element))
    expect((await scene.queue()).blocks).toEqual([])
  })

  it('finds nothing in the honest block, and nothing that proves a lie removes it', async () => {
    const { scene, referenceScripts } = await openBegun()
    const { header, headerHash: hash } = await commit(scene, referenceScripts, honest.roots)
    const block = accusation(honest, header)
    const { after: _, ...withoutAfter } = block
    expect(await removalOf(scene, block, referenceScripts)).toBeUndefined()
    expect(await removalOf(scene, withoutAfter, referenceScripts)).toBeUndefined()

    const [queue, registry] = [await scene.queue(), await scene.registry()]
    const judgement = await judgementOf(scene)
    for (const { what, tell } of lies) {
      const lie = tell(story)
      const lying = { ...header, ...lie.roots }
      const found = findLedgerFraud(await accuse(accusation(lie, lying)))
      // About the header of the lie, and about the honest one.
      for (const redeemer of [found!.redeemer, encodeLedgerFraudProof(header, found!.proof)]) {
        const verdict = { kind: 'minted', policy: ledgerFraudScript(), redeemer } as const
        const wanted = { queue, registry, headerHash: hash, verdict, referenceScripts }
        const draft = removeInvalidBlock(contracts, wanted)
        await expect(requireAccepted(contracts, draft, judgement), what).rejects.toMatchObject({
          code: 'FRAUD_PROOF_REFUSED',
          cause: { failures: [{ predicate: 'ScriptFailure' }] },
        })
        await expect(scene.otherWallet.build(draft), what).rejects.toMatchObject({
          code: 'WALLET_TRANSACTION_REFUSED',
        })
      }
    }
  })

  it.each([
    ['puts a body into a datum', 'datum', otherKeys.address.bytes],
    ['mints the verdict', 'verdict', undefined],
  ] as const)('first %s if the proof leaves no room in a transaction', async (_what, stage, address) => {
    const { scene, referenceScripts } = await openBegun()
    const { queue, registry, run, otherWallet } = scene
    const { transactions, large } = story
    const block = blockOf([...transactions, large])
    const { header } = await commit(scene, referenceScripts, block.roots)
    const element = (await queue()).blocks[0]!.utxo
    const wanted = {
      block: await accuse(accusation(block, header)),
      queue: await queue(),
      registry: await registry(),
      referenceScripts,
      ...(address && { address }),
    }
    const judgement = await judgementOf(scene)
    const first = await removeFraudulentBlock(contracts, wanted, judgement)
    expect(first?.stage).toBe(stage)
    const { produced } = await run(first!.draft, otherWallet)

    const second = await removeFraudulentBlock(contracts, { ...wanted, held: produced }, judgement)
    expect(second).toMatchObject({ policy: 'ledger', fraud: 'inputSpentElsewhere', stage: 'removal' })
    const before = (await otherWallet.balance()).lovelace
    const { fee } = await run(second!.draft, otherWallet)
    expect((await otherWallet.balance()).lovelace - before + fee).toBe(bond + lovelaceOf(element))
    expect((await queue()).blocks).toEqual([])
  })

  it('goes on to the next fraud where layer 1 refuses a proof', async () => {
    const { scene, referenceScripts } = await openBegun()
    const [first] = story.transactions as [Uint8Array]
    // The ledger decodes nothing of it; the script reads a hash that its end does not follow from.
    const undecoded = theft({
      before: [fromHex('0e80'), fromHex(`075820${'00'.repeat(32)}`)],
      witnesses: fromHex('80'),
    })
    const transactions = [first, undecoded, theft({ inputs: [31], outputs: 60 })]
    const block = blockOf(transactions, {
      read: movedParts,
      entries(map) {
        const chunks = [[first], transactions.slice(1)]
        for (const [number, chunk] of chunks.entries()) {
          const record = { first: number, chunks: 2, chunkHash: blake2b256(framesOf(...chunk)) }
          map.set(toHex(chunkKey(number)), encodeChunkRecord(record))
        }
        const key = toHex(transactionKey(2))
        const record = decodeTransactionRecord(map.get(key)!)
        map.set(key, encodeTransactionRecord({ ...record, feesSoFar: record.feesSoFar + 1n }))
      },
    })
    const { header } = await commit(scene, referenceScripts, block.roots)
    const accused = await accuse(accusation(block, header))
    const [frauds] = [...ledgerFrauds(accused)].filter((found) => found !== undefined)
    expect(frauds?.map(({ proof }) => proof)).toMatchObject([
      { fraud: 'wrongChunk', flaw: { flaw: 'tooShort' } },
      { fraud: 'wrongFees' },
    ])
    const { fraud, gain } = await prove(scene, accusation(block, header), referenceScripts)
    expect(fraud).toBe('wrongFees')
    expect(gain).toBeGreaterThan(bond)
  })

  it('judges no block by a body or a trie that its header does not commit to', async () => {
    const { scene, referenceScripts } = await openBegun()
    const { header } = await commit(scene, referenceScripts, honest.roots)
    const block = accusation(honest, header)
    const entries = [...deriveBlock(story.transactions, honest.before.valueHash).entries()]
    const others: readonly (readonly [Partial<Accusation>, string])[] = [
      [{ transactions: told('inputSpentElsewhere').transactions }, 'transactions map'],
      [{ entries: told('inventedOutput').entries! }, 'transactions map'],
      [{ entries, before: honest.after }, 'outputs before'],
      [{ after: told('wrongOutputsAfter').after }, 'outputs after'],
    ]
    for (const [other, what] of others) {
      await expect(removalOf(scene, { ...block, ...other }, referenceScripts)).rejects.toMatchObject({
        code: 'FRAUD_ROOT_MISMATCH',
        message: expect.stringContaining(what),
      })
    }
  })

  it('needs contracts that name the policy, and a block in the queue', async () => {
    const { scene, referenceScripts } = await openBegun()
    const block = told('wrongOutputsAfter')
    const { header } = await commit(scene, referenceScripts, block.roots)
    const wanted = {
      block: await accuse(accusation(block, header)),
      queue: await scene.queue(),
      registry: await scene.registry(),
    }
    const judgement = await judgementOf(scene)
    const invalid = { code: 'WALLET_INVALID_DRAFT' }
    await expect(removeFraudulentBlock(otherContracts, wanted, judgement)).rejects.toMatchObject(invalid)
    const elsewhere = { ...header, endTime: header.endTime + 1n }
    expect(toHex(headerHash(elsewhere))).not.toBe(toHex(headerHash(header)))
    const absent = { ...wanted, block: await accuse(accusation(block, elsewhere)) }
    await expect(removeFraudulentBlock(contracts, absent, judgement)).rejects.toMatchObject(invalid)
  })
})

/** A transaction with one bit of its first signature changed. */
function forged(bytes: Uint8Array): Uint8Array {
  const { signature } = decodeTransaction(bytes).witnesses.keyWitnesses[0]!
  const place = signature.byteOffset - bytes.byteOffset
  return bytes.with(place, bytes[place]! ^ 1)
}

function unsigned(bytes: Uint8Array): Uint8Array {
  const { body } = decodeTransaction(bytes)
  return concatBytes(Uint8Array.of(0x84), body.bytes, Uint8Array.of(0xa0, 0xf5, 0xf6))
}

describe('removeFraudulentBlock, by the witness policy', () => {
  let witnessed: Story
  let parameters: Parameters<typeof witnessFraudScript>[0]
  beforeAll(async () => {
    const { devnet, layer1, slots } = await openScene()
    const found = await layer1.parameters()
    parameters = found
    witnessed = await tellStory(found, slots)
    await devnet.close()
  })

  it.each([
    ['a signature is forged', 'invalidSignature', forged],
    ['no one has signed for what the block makes', 'missingSignature', unsigned],
  ] as const)('takes the bond where %s, in one transaction', async (_what, fraud, change) => {
    const policies = [ledgerFraudScript(), witnessFraudScript(parameters)]
    const own = openContracts({ ...otherContracts.parameters, verdictPolicies: policies }, 0)
    const scene = await openScene(own)
    const { devnet, layer1, slots, queue, registry, run, otherWallet } = scene
    const [first, second] = witnessed.transactions as [Uint8Array, Uint8Array]
    const block = blockOf([first, change(second)])
    const scripts = await begin(scene, true, block.roots.prevUtxosRoot)
    // Both policies do not fit into one transaction.
    const { produced } = await run(publishScripts(own, policies.slice(1)))
    const referenceScripts = referenceScriptsOf(own, [...scripts, ...produced])
    const { header } = await commit(scene, referenceScripts, block.roots)
    const element = (await queue()).blocks[0]!.utxo

    const judgement = {
      parameters: await layer1.parameters(),
      slots,
      slot: devnet.currentSlot(),
      evaluator,
    }
    const wanted = {
      queue: await queue(),
      registry: await registry(),
      referenceScripts,
      block: await accuse(accusation(block, header)),
    }
    const rules = { parameters: judgement.parameters, networkId: 0, slots }
    expect(await removeFraudulentBlock(own, wanted, judgement)).toBeUndefined()
    const removal = await removeFraudulentBlock(own, { ...wanted, rules }, judgement)
    expect(removal).toMatchObject({ policy: 'witness', fraud })

    const before = (await otherWallet.balance()).lovelace
    const built = await run(removal!.draft, otherWallet)
    expect((await otherWallet.balance()).lovelace - before + built.fee).toBe(
      bond + element.output.value.lovelace,
    )
    expect((await registry()).datum.operators).toEqual([])
    expect((await queue()).blocks).toEqual([])
    await devnet.close()
  })
})
