import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import {
  ChainSynchronization,
  createChainSynchronizationClient,
  createInteractionContext,
  createLedgerStateQueryClient,
  createMempoolMonitoringClient,
  createTransactionSubmissionClient,
  type InteractionContext,
  type JSONRPCError,
  type Schema,
} from '@cardano-ogmios/client'
import { toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import type { Test } from 'tap'
import { until } from '../http.js'
import {
  alice,
  bob,
  draft,
  failing,
  failingHash,
  first,
  lock,
  type OpenLedger,
  payment,
  type RunTest,
  type ServedLedger,
  second,
  succeeding,
  succeedingHash,
  unitDatum,
  unlock,
} from './scenes.js'

/** Tests by name, each with a ledger and connections to its Ogmios. */
type OgmiosScenes = Readonly<Record<string, (scene: Scene) => Promise<void>>>

interface Scene {
  readonly t: Test
  readonly ledger: ServedLedger
  connect(): Promise<InteractionContext>
}

async function errorOf(work: Promise<unknown>): Promise<JSONRPCError> {
  return work.then(
    () => {
      throw new Error('expected an error')
    },
    (reason: JSONRPCError) => reason,
  )
}

/** The client's view of transactions with scripts. */
const scriptScenes: OgmiosScenes = {
  async 'Plutus scripts are evaluated, succeed and fail'({ t, connect, ledger }) {
    const client = await createTransactionSubmissionClient(await connect())
    const unlocking = unlock(await lock(ledger, succeedingHash), succeeding)
    t.same(await client.evaluateTransaction(toHex(unlocking.cbor)), [
      { validator: { purpose: 'spend', index: 0 }, budget: { memory: 500, cpu: 64_100 } },
    ])
    t.equal(await client.submitTransaction(toHex(unlocking.cbor)), unlocking.hash)
    await ledger.reset()

    const rejectedCbor = toHex(unlock(await lock(ledger, failingHash), failing).cbor)
    t.match(await errorOf(client.evaluateTransaction(rejectedCbor)), {
      code: 3010,
      data: [{ validator: { purpose: 'spend', index: 0 }, error: { code: 3012, data: { traces: [] } } }],
    })
    t.match(await errorOf(client.submitTransaction(rejectedCbor)), {
      code: 3136,
      data: { declaredSpending: 'inputs', mismatchReason: /FailedUnexpectedly: spend:0/ },
    })
    const unknown = toHex(unlock(`${'22'.repeat(32)}#0`, succeeding).cbor)
    t.match(await errorOf(client.evaluateTransaction(unknown)), {
      code: 3010,
      data: [{ error: { code: 3117 } }],
    })
    await client.shutdown()
  },

  async 'missing Plutus witnesses have the error codes of Ogmios'({ t, connect, ledger }) {
    const client = await createTransactionSubmissionClient(await connect())
    const locked = await lock(ledger, succeedingHash)
    const base = {
      inputs: [locked],
      outputs: [{ address: alice.addressBytes, lovelace: 19_700_000n }],
      fee: 300_000n,
      signers: [alice],
    }
    const redeemers = [{ tag: 0, index: 0, memory: 10_000n, steps: 10_000_000n }]
    const rejected: Readonly<Record<number, Parameters<typeof draft>[0]>> = {
      3102: base,
      3109: { ...base, scripts: [succeeding] },
      3110: {
        ...base,
        scripts: [succeeding],
        collateral: [second],
        redeemers: [...redeemers, { ...redeemers[0]!, tag: 1 }],
      },
      3129: { ...base, scripts: [succeeding], collateral: [locked], redeemers },
      3130: {
        ...base,
        scripts: [succeeding],
        collateral: [second],
        redeemers,
        invalidHereafter: ledger.currentSlot() + 200_000n,
      },
      3132: { ...base, scripts: [succeeding], redeemers },
      3134: {
        ...base,
        scripts: [succeeding],
        collateral: [second],
        redeemers: [{ ...redeemers[0]!, memory: 10n ** 9n }],
      },
    }
    for (const [code, transaction] of Object.entries(rejected)) {
      const error = await errorOf(client.submitTransaction(toHex(draft(transaction).cbor)))
      t.equal(error.code, Number(code), `${code}: ${error.message}`)
    }
    await client.shutdown()
  },

  async 'evaluation with an output that only the client knows'({ t, connect, ledger }) {
    const client = await createTransactionSubmissionClient(await connect())
    const known = await lock(ledger, succeedingHash)
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
    t.match(await errorOf(client.evaluateTransaction(toHex(unlocking.cbor), richer)), { code: 3002 })
    await client.shutdown()
    await queried.shutdown()
  },

  async 'evaluation with an output of the chain that the client encodes otherwise'({ t, connect, ledger }) {
    const locking = draft({
      inputs: [first],
      outputs: [
        {
          address: Uint8Array.from([0x70, ...succeedingHash]),
          lovelace: 20_000_000n,
          datumHash: blake2b256(unitDatum),
        },
        { address: alice.addressBytes, lovelace: 79_800_000n },
      ],
      fee: 200_000n,
      signers: [alice],
    })
    await ledger.submit(locking.cbor)
    await ledger.produceBlock()
    const queried = await createLedgerStateQueryClient(await connect())
    const known = await queried.utxo({
      outputReferences: [{ transaction: { id: locking.hash }, index: 0 }],
    })
    t.match(known, [{ datumHash: toHex(blake2b256(unitDatum)) }])
    const client = await createTransactionSubmissionClient(await connect())
    const unlocking = unlock(`${locking.hash}#0`, succeeding)
    t.match(await client.evaluateTransaction(toHex(unlocking.cbor), known), [{ budget: { memory: 500 } }])
    await client.shutdown()
    await queried.shutdown()
  },
}

/**
 * The view of a ledger by the client `@cardano-ogmios/client`.
 *
 * @param served opens the ledger
 */
export function ogmiosSuite(test: RunTest, served: OpenLedger): void {
  /** Every response of every test, checked against the schema at the end. */
  const seen: SchemaCase[] = []

  for (const [name, run] of Object.entries({ ...scenes, ...scriptScenes }))
    test(name, async (t) => {
      const ledger = await served(t)
      const address = { http: ledger.ogmios, webSocket: ledger.ogmios.replace('http', 'ws') }
      const connect = async (): Promise<InteractionContext> => {
        const context = await createInteractionContext(
          (error) => t.error(error),
          () => {},
          { connection: { address } },
        )
        context.socket.on('message', (message: unknown) => seen.push(...schemaCaseOf(String(message))))
        return context
      }
      await run({ t, ledger, connect })
    })

  test('every response above matches the schema of Ogmios', async (t) => {
    t.ok(seen.length > 30, `${seen.length} messages`)
    t.equal(await checkAgainstSchema(seen), '')
    const wrong = await checkAgainstSchema([
      {
        type: 'QueryNetworkTipResponse',
        json: '{"jsonrpc":"2.0","method":"queryNetwork/tip","result":{"slot":"1"}}',
      },
    ])
    t.match(wrong, /error TS/, 'a wrong response does not match')
  })
}

const scenes: OgmiosScenes = {
  async 'ledger state and network queries'({ t, connect, ledger }) {
    const client = await createLedgerStateQueryClient(await connect())
    // The newest block of layer 2 is open, so there is always one more.
    const ahead = ledger.layer === 1 ? 0 : 1
    const nothing = ledger.layer === 1 ? 'origin' : { id: /^[0-9a-f]{64}$/ }
    t.match(await client.ledgerTip(), nothing)
    t.equal(await client.networkBlockHeight(), ledger.layer === 1 ? 'origin' : 1)
    const { slot, hash } = await ledger.produceBlock()
    const newest = ledger.layer === 1 ? { slot: Number(slot), id: hash } : nothing
    t.match(await client.ledgerTip(), newest)
    t.match(await client.networkTip(), newest)
    t.equal(await client.networkBlockHeight(), 1 + ahead)
    t.same(await client.networkStartTime(), new Date(Date.UTC(2025, 0, 1)))
    t.match(await client.protocolParameters(), {
      minFeeCoefficient: 44,
      minFeeConstant: { ada: { lovelace: 155_381n } },
      scriptExecutionPrices: { memory: '577/10000', cpu: '721/10000000' },
      version: { major: 11, minor: 0 },
    })
    t.match(await client.utxo({ addresses: [alice.address] }), [
      { transaction: { id: '11'.repeat(32) }, index: 0, value: { ada: { lovelace: 100_000_000n } } },
      { index: 1 },
    ])
    const all = await client.utxo()
    t.equal(all.filter(({ address }) => address === alice.address).length, 2)
    const outputReferences = [{ transaction: { id: '11'.repeat(32) }, index: 1 }]
    t.match(await client.utxo({ outputReferences }), [{ index: 1, address: alice.address }])
    t.match(await client.eraSummaries(), [{ start: { slot: 0 }, parameters: { epochLength: 432_000 } }])
    t.equal(typeof (await client.epoch()), 'number')
    t.match(await client.eraStart(), { slot: 0, epoch: 0 })
    t.match(await client.genesisConfiguration('shelley'), { networkMagic: 42, network: 'testnet' })
    t.same(await client.rewardAccountSummaries({ keys: [toHex(alice.hash)] }), [])
    const tip = await client.ledgerTip()
    if (tip === 'origin') throw new Error('there is a block')
    await client.acquireLedgerState(tip)
    await client.releaseLedgerState()
    t.match(await errorOf(client.utxo({ addresses: ['foo'] })), { code: -32_602, message: /addresses\[0\]/ })
    await client.shutdown()
  },

  async submission({ t, connect, ledger }) {
    const client = await createTransactionSubmissionClient(await connect())
    const { cbor, hash } = payment()
    t.equal(await client.submitTransaction(toHex(cbor)), hash)
    await ledger.produceBlock()
    t.ok(await ledger.isConfirmed(hash))

    // Layer 2 acknowledges what it has accepted before, so there another transaction spends the output again.
    const again = ledger.layer === 1 ? cbor : payment(first, 89_700_000n).cbor
    const begun = performance.now()
    const refusal = await errorOf(client.submitTransaction(toHex(again)))
    t.comment(`refused after ${Math.round(performance.now() - begun)} ms`)
    t.match(refusal, {
      code: 3117,
      message: ledger.layer === 1 ? /BadInputsUTxO/ : new RegExp(`was spent by transaction ${hash}`),
      data: { unknownOutputReferences: [{ transaction: { id: '11'.repeat(32) }, index: 0 }] },
    })
    t.match(await errorOf(client.submitTransaction('80')), { code: -32_602 })
    await client.shutdown()
  },

  async 'rejections have the error codes of Ogmios'({ t, connect, ledger }) {
    const client = await createTransactionSubmissionClient(await connect())
    const base = {
      inputs: [first],
      outputs: [{ address: bob.addressBytes, lovelace: 99_800_000n }],
      fee: 200_000n,
      signers: [alice],
    }
    const registration = { registers: true, keyHash: alice.hash }
    const now = ledger.currentSlot()
    const rejected: Readonly<Record<number, Parameters<typeof draft>[0]>> = {
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
    for (const [code, transaction] of Object.entries(rejected)) {
      const error = await errorOf(client.submitTransaction(toHex(draft(transaction).cbor)))
      const expected = Math.trunc(Number(code))
      // Layer 2 has no stake: it rejects certificates and withdrawals by other names.
      const ofStake = ledger.layer === 2 && ('certificates' in transaction || 'withdrawals' in transaction)
      t.equal(error.code, ofStake ? 3997 : expected, `${code}: ${error.message}`)
    }
    await client.shutdown()
  },

  async 'mempool monitoring reads a snapshot, and waits for a different one'({ t, connect, ledger }) {
    const client = await createMempoolMonitoringClient(await connect())
    t.match(await errorOf(client.sizeOfMempool()), { code: 4000 })
    const { cbor, hash } = payment()
    await ledger.submit(cbor)
    await client.acquireMempool()
    t.equal(await client.hasTransaction(hash), true)
    t.match(await client.sizeOfMempool(), { currentSize: { bytes: cbor.length }, transactions: { count: 1 } })
    t.equal(await client.nextTransaction(), hash)
    t.equal(await client.nextTransaction(), null)

    const again = client.acquireMempool()
    t.equal(await Promise.race([again, delay(100, 'waiting')]), 'waiting')
    await ledger.produceBlock()
    await again
    t.match(await client.sizeOfMempool(), { transactions: { count: 0 } })
    await client.releaseMempool()
    await client.shutdown()
  },

  async 'chain synchronization follows blocks and roll-backs'({ t, connect, ledger }) {
    const { cbor, hash } = payment()
    await ledger.submit(cbor)
    const block = await ledger.produceBlock()
    const steps: string[] = []
    const isLast: boolean[] = []
    const client = await createChainSynchronizationClient(await connect(), {
      rollForward: async ({ block: { id, ...rest }, tip }, next) => {
        steps.push(`+${id}`)
        isLast.push(tip !== 'origin' && tip.id === id)
        if (id === block.hash && rest.type === 'praos') t.equal(rest.transactions?.[0]?.id, hash)
        next()
      },
      rollBackward: async ({ point }, next) => {
        steps.push(point === 'origin' ? '-origin' : `-${point.id}`)
        next()
      },
    })
    const stepsAre = async (...expected: string[]) => {
      await until(() => steps.length >= expected.length)
      t.same(steps, expected)
    }
    await client.resume(['origin'], 1)
    await stepsAre('-origin', `+${block.hash}`)
    const lost = await ledger.produceBlock()
    await stepsAre('-origin', `+${block.hash}`, `+${lost.hash}`)
    await ledger.rollBack(1)
    const other = await ledger.produceBlock()
    await stepsAre('-origin', `+${block.hash}`, `+${lost.hash}`, `-${block.hash}`, `+${other.hash}`)
    t.same(isLast, [true, true, true], 'each block was the tip')
    const asked = await createLedgerStateQueryClient(await connect())
    const tip = await asked.networkTip()
    await asked.shutdown()
    const backTo: unknown[] = []
    const handlers = {
      rollForward: async () => {},
      rollBackward: async (to: unknown) => void backTo.push(to),
    }
    const follower = await createChainSynchronizationClient(await connect(), handlers)
    // On layer 2 it is open, and synchronization begins before it.
    const newest = { id: other.hash, slot: Number(other.slot) }
    t.match(await follower.resume([tip], 1), { intersection: newest, tip: newest })
    await until(() => backTo.length > 0)
    t.match(backTo, [{ point: newest, tip: newest }], 'where the intersection is')
    await follower.shutdown()
    if (ledger.layer === 2) {
      const point = { slot: Number(block.slot), id: block.hash.slice(0, 56) }
      // On a connection of its own: on that of the client, it would wait behind the next block.
      const context = await connect()
      const { intersection } = await ChainSynchronization.findIntersection(context, [point])
      t.match(intersection, { id: block.hash }, 'also by header hash')
      context.socket.close()
    }
    await client.shutdown()
  },
}

/** A message from the wire, with the member of `Ogmios` in `@cardano-ogmios/schema` that it must match. */
interface SchemaCase {
  readonly type: string
  readonly json: string
}

/** `queryLedgerState/tip` → `QueryLedgerStateTipResponse`. */
function schemaCaseOf(json: string): SchemaCase[] {
  const { method } = JSON.parse(json)
  if (method === undefined) return []
  const name = method.replace(/(^|\/)(\w)/g, (_: string, _slash: string, letter: string) =>
    letter.toUpperCase(),
  )
  return [{ type: `${name}Response`, json }]
}

const header = `import type { Ogmios } from '@cardano-ogmios/schema'
// On the wire every quantity is a number; the schema declares what the client converts it to.
type Wire<T> = T extends bigint ? number : T extends object ? { [K in keyof T]: Wire<T[K]> } : T
`

/** The compiler's errors for messages against Ogmios's schema, published as types; empty if all match. */
async function checkAgainstSchema(cases: readonly SchemaCase[]): Promise<string> {
  const here = dirname(fileURLToPath(import.meta.url))
  const folder = await mkdtemp(join(here, 'schema-'))
  try {
    const lines = cases.map(({ type, json }, i) => `export const m${i}: Wire<Ogmios['${type}']> = ${json}`)
    await writeFile(join(folder, 'messages.ts'), `${header}${lines.join('\n')}\n`)
    const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', skipLibCheck: true, types: [] }
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['messages.ts'] }),
    )
    await promisify(execFile)(await compiler(), ['-p', folder])
    return ''
  } catch (error) {
    if (error instanceof Error && 'stdout' in error && error.stdout !== '') return String(error.stdout)
    throw error
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The native compiler: its JavaScript wrapper does not load under tap's hooks. */
async function compiler(): Promise<string> {
  const root = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
  const { default: getExePath } = await import(pathToFileURL(join(root, 'lib', 'getExePath.js')).href)
  return getExePath()
}
