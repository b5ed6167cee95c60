import {
  createChainSynchronizationClient,
  createInteractionContext,
  createLedgerStateQueryClient,
  createMempoolMonitoringClient,
  createTransactionSubmissionClient,
  type InteractionContext,
  type JSONRPCError,
  type Schema,
} from '@cardano-ogmios/client'
import { toHex } from '@ratatosk/ledger'
import { type Test, test } from 'tap'
import { draft } from '../../test/draft.js'
import { checkAgainstSchema, type SchemaCase } from '../../test/ogmios-schema.js'
import { alice, aliceGenesis, bob, first, lock, payment, second, unlock } from '../../test/scenes.js'
import { failing, failingHash, succeeding, succeedingHash } from '../../test/scripts.js'
import { serveDevnet } from '../../test/served-devnet.js'

/** Every answer of every test, to be held against the schema at the end. */
const seen: SchemaCase[] = []

async function open(t: Test, genesis = aliceGenesis) {
  const served = await serveDevnet({ genesis, blockEveryMs: 0 })
  t.teardown(() => served.close())
  const connect = async (): Promise<InteractionContext> => {
    const context = await createInteractionContext(
      (error) => t.error(error),
      () => {},
      { connection: { address: { http: served.ogmios, webSocket: served.ogmios.replace('http', 'ws') } } },
    )
    context.socket.on('message', (message: unknown) => record(String(message)))
    return context
  }
  return { ...served, connect }
}

/** `queryLedgerState/tip` → `QueryLedgerStateTipResponse`. */
function record(json: string): void {
  const { method } = JSON.parse(json)
  const name = method.replace(/(^|\/)(\w)/g, (_: string, _slash: string, letter: string) =>
    letter.toUpperCase(),
  )
  seen.push({ type: `${name}Response`, json })
}

async function refusal(work: Promise<unknown>): Promise<JSONRPCError> {
  return work.then(
    () => {
      throw new Error('there was no error')
    },
    (reason: JSONRPCError) => reason,
  )
}

test('queries', async (t) => {
  const { connect, devnet } = await open(t)
  const client = await createLedgerStateQueryClient(await connect())
  t.equal(await client.ledgerTip(), 'origin')
  t.equal(await client.networkBlockHeight(), 'origin')
  const { slot, hash } = await devnet.produceBlock()
  t.same(await client.ledgerTip(), { slot: Number(slot), id: hash })
  t.same(await client.networkTip(), { slot: Number(slot), id: hash })
  t.equal(await client.networkBlockHeight(), 1)
  t.same(await client.networkStartTime(), new Date(Date.UTC(2025, 0, 1)))
  t.match(await client.protocolParameters(), {
    minFeeCoefficient: 44,
    minFeeConstant: { ada: { lovelace: 155_381n } },
    scriptExecutionPrices: { memory: '577/10000', cpu: '721/10000000' },
    version: { major: 10, minor: 0 },
  })
  t.match(await client.utxo({ addresses: [alice.address] }), [
    { transaction: { id: '11'.repeat(32) }, index: 0, value: { ada: { lovelace: 100_000_000n } } },
    { index: 1 },
  ])
  t.equal((await client.utxo()).length, 2)
  const outputReferences = [{ transaction: { id: '11'.repeat(32) }, index: 1 }]
  t.match(await client.utxo({ outputReferences }), [{ index: 1, address: alice.address }])
  t.match(await client.eraSummaries(), [{ start: { slot: 0 }, parameters: { epochLength: 432_000 } }])
  t.equal(typeof (await client.epoch()), 'number')
  t.match(await client.eraStart(), { slot: 0, epoch: 0 })
  t.match(await client.genesisConfiguration('shelley'), { networkMagic: 42, network: 'testnet' })
  t.same(await client.rewardAccountSummaries({ keys: [toHex(alice.hash)] }), [])
  await client.acquireLedgerState({ slot: Number(slot), id: hash })
  await client.releaseLedgerState()
  await client.shutdown()
})

test('submitting', async (t) => {
  const { connect, devnet } = await open(t)
  const client = await createTransactionSubmissionClient(await connect())
  const { cbor, hash } = payment()
  t.equal(await client.submitTransaction(toHex(cbor)), hash)
  await devnet.produceBlock()
  t.equal(devnet.status(hash).status, 'confirmed')

  t.match(await refusal(client.submitTransaction(toHex(cbor))), {
    code: 3117,
    data: { unknownOutputReferences: [{ transaction: { id: '11'.repeat(32) }, index: 0 }] },
  })
  t.match(await refusal(client.submitTransaction('80')), { code: -32_602 })
  await client.shutdown()
})

test('refusals in the codes of Ogmios', async (t) => {
  const { connect, devnet } = await open(t)
  const client = await createTransactionSubmissionClient(await connect())
  const base = {
    inputs: [first],
    outputs: [{ address: bob.addressBytes, lovelace: 99_800_000n }],
    fee: 200_000n,
    signers: [alice],
  }
  const registration = { registers: true, keyHash: alice.hash }
  const now = devnet.currentSlot()
  const refused: Readonly<Record<number, Parameters<typeof draft>[0]>> = {
    3100: { ...base, signers: [alice, { ...bob, sign: () => new Uint8Array(64) }] },
    3101: { ...base, signers: [bob] },
    3104: { ...base, scripts: [succeeding] },
    3118: { ...base, invalidBefore: now + 1_000n },
    3122: { ...base, outputs: [{ address: bob.addressBytes, lovelace: 99_999_999n }], fee: 1n },
    3123: { ...base, outputs: [{ address: bob.addressBytes, lovelace: 90_000_000n }] },
    3125: {
      ...base,
      outputs: [
        { address: bob.addressBytes, lovelace: 99_700_000n },
        { address: bob.addressBytes, lovelace: 100_000n },
      ],
    },
    3123.1: { ...base, certificates: [registration] },
    3141: { ...base, withdrawals: [[Uint8Array.from([0xe0, ...alice.hash]), 5n]] },
    3145: { ...base, certificates: [registration, { ...registration, deposit: 2_000_000n }] },
    3146: { ...base, certificates: [{ registers: false, keyHash: alice.hash }] },
    3151: { ...base, certificates: [{ ...registration, deposit: 1n }] },
    3119: {
      ...base,
      outputs: Array.from({ length: 500 }, () => ({ address: bob.addressBytes, lovelace: 199_600n })),
    },
  }
  for (const [code, transaction] of Object.entries(refused)) {
    const error = await refusal(client.submitTransaction(toHex(draft(transaction).cbor)))
    t.equal(error.code, Math.trunc(Number(code)), `${code}: ${error.message}`)
  }
  await client.shutdown()
})

test('Plutus: evaluation, unlocking, failing', async (t) => {
  const { connect, devnet } = await open(t)
  const client = await createTransactionSubmissionClient(await connect())
  const unlocking = unlock(await lock(devnet, succeedingHash), succeeding)
  t.same(await client.evaluateTransaction(toHex(unlocking.cbor)), [
    { validator: { purpose: 'spend', index: 0 }, budget: { memory: 500, cpu: 64_100 } },
  ])
  t.equal(await client.submitTransaction(toHex(unlocking.cbor)), unlocking.hash)
  await devnet.rollBack(1)

  const refused = toHex(unlock(await lock(devnet, failingHash), failing).cbor)
  t.match(await refusal(client.evaluateTransaction(refused)), {
    code: 3010,
    data: [{ validator: { purpose: 'spend', index: 0 }, error: { code: 3012, data: { traces: [] } } }],
  })
  t.match(await refusal(client.submitTransaction(refused)), {
    code: 3136,
    data: { declaredSpending: 'inputs', mismatchReason: /FailedUnexpectedly: spend:0/ },
  })
  const unknown = toHex(unlock(`${'22'.repeat(32)}#0`, succeeding).cbor)
  t.match(await refusal(client.evaluateTransaction(unknown)), {
    code: 3010,
    data: [{ error: { code: 3117 } }],
  })
  await client.shutdown()
})

test('what Plutus needs and does not find', async (t) => {
  const { connect, devnet } = await open(t)
  const client = await createTransactionSubmissionClient(await connect())
  const locked = await lock(devnet, succeedingHash)
  const base = {
    inputs: [locked],
    outputs: [{ address: alice.addressBytes, lovelace: 19_700_000n }],
    fee: 300_000n,
    signers: [alice],
  }
  const redeemers = [{ tag: 0, index: 0, memory: 10_000n, steps: 10_000_000n }]
  const refused: Readonly<Record<number, Parameters<typeof draft>[0]>> = {
    3102: base,
    3109: { ...base, scripts: [succeeding] },
    3110: {
      ...base,
      scripts: [succeeding],
      collateral: [second],
      redeemers: [...redeemers, { ...redeemers[0]!, tag: 1 }],
    },
    3129: { ...base, scripts: [succeeding], collateral: [locked], redeemers },
    3132: { ...base, scripts: [succeeding], redeemers },
    3134: {
      ...base,
      scripts: [succeeding],
      collateral: [second],
      redeemers: [{ ...redeemers[0]!, memory: 10n ** 9n }],
    },
  }
  for (const [code, transaction] of Object.entries(refused)) {
    const error = await refusal(client.submitTransaction(toHex(draft(transaction).cbor)))
    t.equal(error.code, Number(code), `${code}: ${error.message}`)
  }
  await client.shutdown()
})

test('an evaluation upon an output that only the client knows', async (t) => {
  const { connect, devnet } = await open(t)
  const client = await createTransactionSubmissionClient(await connect())
  const known = await lock(devnet, succeedingHash)
  const queried = await createLedgerStateQueryClient(await connect())
  const outputReferences = [{ transaction: { id: known.slice(0, 64) }, index: 0 }]
  const [locked] = await queried.utxo({ outputReferences })
  const elsewhere: Schema.Utxo = [
    { ...(locked as Schema.Utxo[number]), transaction: { id: '22'.repeat(32) } },
  ]
  const unlocking = unlock(`${'22'.repeat(32)}#0`, succeeding)
  t.match(await client.evaluateTransaction(toHex(unlocking.cbor), elsewhere), [{ budget: { memory: 500 } }])
  const richer = [
    { ...elsewhere[0], ...outputReferences[0], value: { ada: { lovelace: 5n } } },
  ] as Schema.Utxo
  t.match(await refusal(client.evaluateTransaction(toHex(unlocking.cbor), richer)), { code: 3002 })
  await client.shutdown()
  await queried.shutdown()
})

test('the mempool', async (t) => {
  const { connect, devnet } = await open(t)
  const client = await createMempoolMonitoringClient(await connect())
  t.match(await refusal(client.sizeOfMempool()), { code: 4000 })
  const { cbor, hash } = payment()
  await devnet.submit(cbor)
  await client.acquireMempool()
  t.equal(await client.hasTransaction(hash), true)
  t.match(await client.sizeOfMempool(), { currentSize: { bytes: cbor.length }, transactions: { count: 1 } })
  t.equal(await client.nextTransaction(), hash)
  t.equal(await client.nextTransaction(), null)
  await client.releaseMempool()
  await client.shutdown()
})

test('the chain, block by block, and a roll-back', async (t) => {
  const { connect, devnet } = await open(t)
  const { cbor, hash } = payment()
  await devnet.submit(cbor)
  const block = await devnet.produceBlock()
  const steps: string[] = []
  let reached: () => void = () => {}
  const client = await createChainSynchronizationClient(await connect(), {
    rollForward: async ({ block: { id, ...rest } }, next) => {
      steps.push(`+${id}`)
      if (id === block.hash && rest.type === 'praos') t.equal(rest.transactions?.[0]?.id, hash)
      next()
      reached()
    },
    rollBackward: async ({ point }, next) => {
      steps.push(point === 'origin' ? '-origin' : `-${point.id}`)
      next()
      reached()
    },
  })
  const stepsAre = async (...expected: string[]) => {
    while (steps.length < expected.length) {
      await new Promise<void>((resolve) => {
        reached = resolve
      })
    }
    t.same(steps, expected)
  }
  await client.resume(['origin'], 1)
  await stepsAre('-origin', `+${block.hash}`)
  const lost = await devnet.produceBlock()
  await stepsAre('-origin', `+${block.hash}`, `+${lost.hash}`)
  await devnet.rollBack(1)
  const other = await devnet.produceBlock()
  await stepsAre('-origin', `+${block.hash}`, `+${lost.hash}`, `-${block.hash}`, `+${other.hash}`)
  await client.shutdown()
})

test('every answer above fits the schema of Ogmios', async (t) => {
  t.ok(seen.length > 30, `${seen.length} messages`)
  t.equal(await checkAgainstSchema(seen), '')
  const wrong = await checkAgainstSchema([
    {
      type: 'QueryNetworkTipResponse',
      json: '{"jsonrpc":"2.0","method":"queryNetwork/tip","result":{"slot":"1"}}',
    },
  ])
  t.match(wrong, /error TS/, 'and one that does not fit is found out')
})
