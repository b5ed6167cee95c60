import { setImmediate } from 'node:timers/promises'
import { fromHex, toHex } from '@ratatosk/cbor'
import {
  type OutputReference,
  outputReferenceKey,
  type ProtocolParameters,
  parseProtocolParameters,
  type SlotConfig,
  type Utxo,
} from '@ratatosk/ledger'
import pLimit from 'p-limit'
import { Layer1Error } from '../../errors.js'
import { createHttpClient, type HttpAnswer, type HttpClient } from '../../http/http-client.js'
import {
  arrayOf,
  countOf,
  hexOf,
  integerOf,
  isObject,
  type JsonRecord,
  objectOf,
  optionalText,
  reading,
  textOf,
} from '../../http/json.js'
import { readLimits } from '../../http/limits.js'
import type {
  EvaluatedRedeemer,
  Layer1,
  Layer1Limits,
  Spending,
  Tip,
  TransactionStatus,
} from '../../types.js'
import { createLayer1 } from '../create-layer1.js'
import {
  cleanReason,
  createBriefMemo,
  createLeaveOut,
  maxConcurrent,
  networkIdOf,
  type Provider,
  purposeOf,
  type ReadLog,
  spendingBy,
  spendingPartsOf,
  utxosOf,
} from '../provider.js'
import {
  type Changes,
  createAddressOutputs,
  createLists,
  createPolicyOutputs,
  holdingsOf,
} from './output-lists.js'
import {
  createRememberedScripts,
  createScripts,
  type OutputSource,
  readUtxo,
  readWithoutScript,
} from './outputs.js'

export interface BlockfrostOptions extends Layer1Limits {
  /** With its `/api/v0`: `https://cardano-preprod.blockfrost.io/api/v0`. */
  readonly url: string
  /** Sent as `project_id`; omit it for servers that need none. */
  readonly projectId?: string
  /** The network that the server must serve: mainnet 764824073, preprod 1, preview 2. */
  readonly networkMagic: number
  /** Default: warnings of the process. */
  readonly log?: ReadLog
}

const providerName = 'blockfrost'
const parametersForMs = 60_000
/** Outputs that are decoded without a pause. */
const readAtOnce = 500
const notEvaluated = 'The transaction cannot be evaluated'

/**
 * Layer 1 over the HTTP API of Blockfrost or a compatible server. Where many outputs of an address have
 * reference scripts, some of those are left out of the first reads, unless they are asked for by an asset, a
 * policy or reference.
 *
 * @throws TypeError on invalid options
 * @example
 * const layer1 = createBlockfrostLayer1({
 *   url: 'https://cardano-preprod.blockfrost.io/api/v0',
 *   projectId: 'preprod…',
 *   networkMagic: 1,
 * })
 */
export function createBlockfrostLayer1(options: BlockfrostOptions): Layer1 {
  const { url, projectId = '', networkMagic, pollMs = 2000, log } = options
  const limits = readLimits(options)
  const http = createHttpClient({
    provider: 'Blockfrost',
    url,
    limits,
    ...(projectId !== '' && { headers: { project_id: projectId } }),
  })
  const tip = (signal: AbortSignal) => readTip(http, signal)
  const tipHash = async (signal: AbortSignal) => (await tip(signal)).hash
  const findIn = (path: string, signal: AbortSignal) => find(http, path, signal)
  const lists = createLists(findIn, tipHash)
  const scripts = createRememberedScripts(createScripts((path, signal) => get(http, path, signal)))
  const source: Source = { scripts, leaveOut: createLeaveOut('Blockfrost', log), known: new WeakMap() }
  const server: Server = { http, projectId, source }
  const readNamed = (items: readonly unknown[], signal: AbortSignal) => readUtxos(items, source, true, signal)
  const rememberParameters = createBriefMemo<ProtocolParameters>(parametersForMs)
  const addressOutputs = createAddressOutputs({
    lists,
    find: findIn,
    tip,
    changesOf: (transactionId, signal) => changesOf(http, transactionId, signal),
  })

  async function utxosAt(address: string, policy: string | undefined, signal: AbortSignal): Promise<Utxo[]> {
    const items = await addressOutputs(address, signal)
    if (policy === undefined) return readUtxos(items, source, false, signal)
    return readNamed(
      holdingsOf(items, policy).map(({ item }) => item),
      signal,
    )
  }

  async function holders(unit: string, signal: AbortSignal): Promise<readonly string[]> {
    const items = await lists.whole(`/assets/${unit}/addresses`, signal)
    return reading('Blockfrost', 'holders of an asset', () =>
      items.map((item) => encodeURIComponent(textOf(objectOf(item).address))),
    )
  }

  const outputsOf = (unit: string, holder: string, signal: AbortSignal) =>
    lists.whole(`/addresses/${holder}/utxos/${unit}`, signal)

  const provider: Provider = {
    name: providerName,
    networkId: networkIdOf(networkMagic),
    network: {
      server: 'Blockfrost',
      magic: networkMagic,
      servedMagic: (signal) => readMagic(http, signal),
    },
    pollMs,
    utxosAt,
    async utxosAsOf(address, policy, signal) {
      // The list may be newer, never older.
      const { slot } = await tip(signal)
      return { slot, utxos: await utxosAt(address, policy, signal) }
    },
    async utxosByUnit(unit, signal) {
      const found = await pLimit(maxConcurrent).map(await holders(unit, signal), async (holder) =>
        readNamed(await outputsOf(unit, holder, signal), signal),
      )
      return found.flat()
    },
    utxosByPolicy: createPolicyOutputs({
      lists,
      tipHash,
      holders,
      outputsOf,
      readUtxos: readNamed,
    }),
    utxosByReferences: (references, signal) =>
      utxosOf(references, async (id, indexes) =>
        readNamed(await unspentOf(http, id, indexes, signal), signal),
      ),
    spending: (reference, signal) => readSpending(http, reference, signal),
    parameters: (signal) => rememberParameters(() => readParameters(http, signal)),
    tip,
    slots: (signal) => readSlots(http, signal),
    async send(cbor, signal) {
      const answer = await http.once(post('/tx/submit', cbor), signal)
      const body = accepted(server, answer, 'The network rejects the transaction')
      return reading('Blockfrost', 'a transaction id', () => hexOf(body, 32))
    },
    status: (transactionId, signal) => readStatus(http, transactionId, signal),
    async evaluate(cbor, signal) {
      const answer = await http.read(post('/utils/txs/evaluate', toHex(cbor)), signal)
      return readEvaluation(accepted(server, answer, notEvaluated))
    },
  }
  return createLayer1(provider, limits)
}

interface Server {
  readonly http: HttpClient
  readonly projectId: string
  readonly source: Source
}

interface Source extends OutputSource {
  /** By the item of a list: lists that are read in parts keep their items. */
  readonly known: WeakMap<JsonRecord, Utxo>
}

const post = (path: string, body: string | Uint8Array) =>
  ({ method: 'POST', path, body, contentType: 'application/cbor' }) as const

/** The body, or undefined when Blockfrost answers 404. */
async function find(http: HttpClient, path: string, signal: AbortSignal): Promise<unknown> {
  const answer = await http.read({ method: 'GET', path }, signal)
  return answer.status === 404 ? undefined : expected(answer)
}

async function get(http: HttpClient, path: string, signal: AbortSignal): Promise<unknown> {
  const body = await find(http, path, signal)
  if (body === undefined) throw missing()
  return body
}

function expected(answer: HttpAnswer): unknown {
  if (answer.status < 300) return answer.body
  const words = wordsOf(answer)
  if (/network token mismatch|invalid address for this network/i.test(words)) {
    throw new Layer1Error('LAYER1_WRONG_NETWORK', 'Blockfrost serves another network')
  }
  if (answer.status === 403) throw new Layer1Error('LAYER1_UNAUTHORIZED', 'Blockfrost rejects the project id')
  throw new Layer1Error('LAYER1_PROVIDER_ERROR', `Blockfrost answered ${answer.status}`)
}

/** The body of an answer about a transaction that was sent. @param refusal the meaning of a 400 */
function accepted({ projectId }: Server, answer: HttpAnswer, refusal: string): unknown {
  if (answer.status !== 400) return expected(answer)
  throw new Layer1Error('LAYER1_REJECTED', refusal, { reason: cleanReason(wordsOf(answer), [projectId]) })
}

async function readTip(http: HttpClient, signal: AbortSignal): Promise<Tip> {
  const body = await get(http, '/blocks/latest', signal)
  return reading('Blockfrost', 'a block', () => {
    const { slot, hash, height } = objectOf(body)
    return { slot: integerOf(slot), hash: hexOf(hash, 32), height: countOf(height) }
  })
}

async function readParameters(http: HttpClient, signal: AbortSignal): Promise<ProtocolParameters> {
  const body = await get(http, '/epochs/latest/parameters', signal)
  return reading('Blockfrost', 'protocol parameters', () => parseProtocolParameters(body))
}

async function readSlots(http: HttpClient, signal: AbortSignal): Promise<SlotConfig> {
  const [genesis, eras] = await Promise.all([
    get(http, '/genesis', signal),
    get(http, '/network/eras', signal),
  ])
  return reading('Blockfrost', 'genesis and eras', () => {
    const { start, parameters } = objectOf(arrayOf(eras).at(-1))
    const { time, slot } = objectOf(start)
    const seconds = integerOf(objectOf(genesis).system_start) + integerOf(time)
    const slotLength = Number(objectOf(parameters).slot_length) * 1000
    if (!Number.isInteger(slotLength) || slotLength <= 0) throw new TypeError('no slot length')
    return { zeroTime: seconds * 1000n, zeroSlot: integerOf(slot), slotLength }
  })
}

async function readMagic(http: HttpClient, signal: AbortSignal): Promise<number> {
  const genesis = await get(http, '/genesis', signal)
  return reading('Blockfrost', 'genesis', () => countOf(objectOf(genesis).network_magic))
}

async function readStatus(http: HttpClient, id: string, signal: AbortSignal): Promise<TransactionStatus> {
  const body = await find(http, `/txs/${id}`, signal)
  if (body === undefined) {
    // Servers without a mempool endpoint answer 400 or 404.
    const waiting = await http.read({ method: 'GET', path: `/mempool/${id}` }, signal)
    return { kind: waiting.status === 200 ? 'pending' : 'unknown' }
  }
  const { height } = await readTip(http, signal)
  return reading<TransactionStatus>('Blockfrost', 'a transaction', () => {
    const { slot, block, block_height: at } = objectOf(body)
    return {
      kind: 'confirmed',
      slot: integerOf(slot),
      blockHash: hexOf(block, 32),
      confirmations: Math.max(0, height - countOf(at)),
    }
  })
}

/** The inputs and outputs of a transaction; undefined if the chain does not have it. */
async function shownBy(http: HttpClient, transactionId: string, signal: AbortSignal) {
  const body = await find(http, `/txs/${transactionId}/utxos`, signal)
  if (body === undefined) return undefined
  return reading('Blockfrost', 'the inputs and outputs of a transaction', () => {
    const { inputs, outputs } = objectOf(body)
    return {
      inputs: arrayOf(inputs).map(objectOf),
      outputs: arrayOf(outputs).map(
        (output): JsonRecord => ({ ...objectOf(output), tx_hash: transactionId }),
      ),
    }
  })
}

/** Those of the given inputs and outputs that count. Of a failed transaction, those are its collateral. */
async function counted(http: HttpClient, id: string, items: readonly JsonRecord[], signal: AbortSignal) {
  const failed = items.some(({ collateral }) => collateral === true) && !(await isValid(http, id, signal))
  return items.filter(
    ({ collateral, reference, consumed_by_tx: spender }) =>
      (collateral === true) === failed && reference !== true && (spender === null || spender === undefined),
  )
}

async function isValid(http: HttpClient, transactionId: string, signal: AbortSignal): Promise<boolean> {
  const body = await get(http, `/txs/${transactionId}`, signal)
  return reading('Blockfrost', 'a transaction', () => objectOf(body).valid_contract !== false)
}

async function changesOf(http: HttpClient, transactionId: string, signal: AbortSignal): Promise<Changes> {
  const shown = await shownBy(http, transactionId, signal)
  if (shown === undefined) throw missing()
  const { inputs, outputs } = shown
  const items = new Set(await counted(http, transactionId, [...inputs, ...outputs], signal))
  return {
    created: outputs.filter((output) => items.has(output)),
    spent: inputs.filter((input) => items.has(input)),
  }
}

/** The unspent outputs of a transaction with these indexes. */
async function unspentOf(
  http: HttpClient,
  id: string,
  indexes: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<readonly JsonRecord[]> {
  const shown = await shownBy(http, id, signal)
  const unspent = await counted(http, id, shown?.outputs ?? [], signal)
  return reading('Blockfrost', 'the outputs of a transaction', () =>
    unspent.filter(({ output_index: index }) => indexes.has(countOf(index))),
  )
}

/** The redeemer does not depend on the outputs that the transaction refers to: anyone may have made those. */
async function readSpending(
  http: HttpClient,
  reference: OutputReference,
  signal: AbortSignal,
): Promise<Spending | undefined> {
  const created = await shownBy(http, toHex(reference.transactionId), signal)
  const spender = reading('Blockfrost', 'the outputs of a transaction', () => {
    const output = created?.outputs.find(({ output_index: index }) => countOf(index) === reference.index)
    return optionalText(output?.consumed_by_tx)
  })
  if (spender === undefined) return undefined
  const [bytes, shown] = await Promise.all([
    get(http, `/txs/${spender}/cbor`, signal),
    shownBy(http, spender, signal),
  ])
  if (shown === undefined) throw missing()
  const known = new Map<string, Utxo['output']>()
  for (const input of shown.inputs) {
    const read = input.reference === true ? readWithoutScript(input) : undefined
    if (read !== undefined) known.set(outputReferenceKey(read.reference), read.output)
  }
  return reading('Blockfrost', 'a transaction', () =>
    spendingBy(spendingPartsOf(fromHex(textOf(objectOf(bytes).cbor))), reference, (each) =>
      known.get(outputReferenceKey(each)),
    ),
  )
}

async function readUtxos(
  items: readonly unknown[],
  source: Source,
  isNamed: boolean,
  signal: AbortSignal,
): Promise<Utxo[]> {
  const { known } = source
  const unknown = items.filter((item) => !isObject(item) || !known.has(item))
  for (let from = 0; from < unknown.length; from += readAtOnce) {
    await pLimit(maxConcurrent).map(unknown.slice(from, from + readAtOnce), async (item) => {
      const utxo = await readUtxo(item, source, isNamed, signal)
      if (utxo !== undefined && isObject(item)) known.set(item, utxo)
    })
    // Others have their turn.
    await setImmediate()
  }
  return items.flatMap((item) => (isObject(item) ? (known.get(item) ?? []) : []))
}

function missing(): Layer1Error {
  return new Layer1Error('LAYER1_INVALID_ANSWER', 'Blockfrost answered 404 for a resource that must exist')
}

function wordsOf({ body }: HttpAnswer): string {
  if (isObject(body) && typeof body.message === 'string') return body.message
  return typeof body === 'string' ? body : JSON.stringify(body)
}

/** Reads an evaluation in Ogmios 5's envelope, which Blockfrost still uses: a fault is of the request. */
function readEvaluation(body: unknown): readonly EvaluatedRedeemer[] {
  const result = reading('Blockfrost', 'an evaluation', () => {
    const { result, fault } = objectOf(body)
    return objectOf(fault ?? result)
  })
  const { EvaluationResult: units, EvaluationFailure: failure } = result
  if (!isObject(units)) {
    const reason = cleanReason(JSON.stringify(failure ?? result))
    throw new Layer1Error('LAYER1_REJECTED', notEvaluated, { reason })
  }
  return reading('Blockfrost', 'an evaluation', () =>
    Object.entries(units).map(([pointer, used]) => {
      const [purpose, index] = pointer.split(':')
      const { memory, steps } = objectOf(used)
      return {
        purpose: purposeOf(purpose),
        index: countOf(index),
        memory: integerOf(memory),
        steps: integerOf(steps),
      }
    }),
  )
}
