import { fromHex, toHex } from '@ratatosk/cbor'
import {
  type OutputReference,
  outputReferenceKey,
  type ProtocolParameters,
  parseProtocolParameters,
  type Utxo,
} from '@ratatosk/ledger'
import pLimit from 'p-limit'
import { Layer1Error } from '../../errors.js'
import { createHttpClient, type HttpAnswer } from '../../http/http-client.js'
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
import { readLimits } from '../../http/retry.js'
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
  createMemo,
  type Provider,
  purposeOf,
  spendingBy,
} from '../provider.js'
import { spendingPartsOf } from '../spending-parts.js'
import { createAddressOutputs } from './address-outputs.js'
import { createLists, maxConcurrent } from './lists.js'
import { createScripts, readUtxo, type ScriptByHash } from './outputs.js'
import { createPolicyOutputs, holdingsOf } from './policy-outputs.js'

export interface BlockfrostOptions extends Layer1Limits {
  /** With its `/api/v0`: `https://cardano-preprod.blockfrost.io/api/v0`. */
  readonly url: string
  /** Sent as `project_id`; omit it for servers that need none. */
  readonly projectId?: string
  /** The network that the server must serve: mainnet 764824073, preprod 1, preview 2. */
  readonly networkMagic: number
}

const providerName = 'blockfrost'
const mainnetMagic = 764824073
const parametersForMs = 60_000

/**
 * Layer 1 over the HTTP API of Blockfrost or a compatible server.
 *
 * @throws TypeError on invalid options
 * @example
 * const layer1 = createBlockfrostLayer1({
 *   url: 'https://cardano-preprod.blockfrost.io/api/v0',
 *   projectId: process.env.BLOCKFROST_PROJECT_ID,
 *   networkMagic: 1,
 * })
 */
export function createBlockfrostLayer1(options: BlockfrostOptions): Layer1 {
  const { url, projectId = '', networkMagic, pollMs = 2000 } = options
  const limits = readLimits(options)
  const http = createHttpClient({
    provider: 'Blockfrost',
    url,
    limits,
    ...(projectId !== '' && { headers: { project_id: projectId } }),
  })
  const rememberParameters = createBriefMemo<ProtocolParameters>(parametersForMs)

  /** The body, or undefined when Blockfrost answers 404. */
  async function find(path: string, signal: AbortSignal): Promise<unknown> {
    const answer = await http.read({ method: 'GET', path }, signal)
    if (answer.status === 404) return undefined
    return expected(answer)
  }

  async function get(path: string, signal: AbortSignal): Promise<unknown> {
    const body = await find(path, signal)
    if (body === undefined) throw missing()
    return body
  }

  function expected(answer: HttpAnswer): unknown {
    if (answer.status < 300) return answer.body
    const words = wordsOf(answer)
    if (/network token mismatch|invalid address for this network/i.test(words)) {
      throw new Layer1Error('LAYER1_WRONG_NETWORK', 'Blockfrost serves another network')
    }
    if (answer.status === 403)
      throw new Layer1Error('LAYER1_UNAUTHORIZED', 'Blockfrost rejects the project id')
    throw new Layer1Error('LAYER1_PROVIDER_ERROR', `Blockfrost answered ${answer.status}`)
  }

  const tipHash = async (signal: AbortSignal) => (await tip(signal)).hash
  const lists = createLists(find, tipHash)
  const scripts = createScripts(get, createMemo(200))

  async function utxosUnder(path: string, signal: AbortSignal): Promise<Utxo[]> {
    return readUtxos(await lists.whole(path, signal), scripts, signal)
  }

  async function utxosAt(address: string, policy: string | undefined, signal: AbortSignal): Promise<Utxo[]> {
    const items = await addressOutputs(address, signal)
    const wanted = policy === undefined ? items : holdingsOf(items, policy).map(({ item }) => item)
    return readUtxos(wanted, scripts, signal)
  }

  async function holders(unit: string, signal: AbortSignal): Promise<readonly string[]> {
    const items = await lists.whole(`/assets/${unit}/addresses`, signal)
    return reading('Blockfrost', 'holders of an asset', () =>
      items.map((item) => encodeURIComponent(textOf(objectOf(item).address))),
    )
  }

  const policyOutputs = createPolicyOutputs({
    lists,
    tipHash,
    holders,
    outputsOf: (unit, holder, signal) => lists.whole(`/addresses/${holder}/utxos/${unit}`, signal),
    readUtxos: (items, signal) => readUtxos(items, scripts, signal),
  })

  /** The inputs and outputs of a transaction; undefined if the chain does not have it. */
  async function shownBy(transactionId: string, signal: AbortSignal) {
    const body = await find(`/txs/${transactionId}/utxos`, signal)
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
  async function counted(transactionId: string, items: readonly JsonRecord[], signal: AbortSignal) {
    const failed =
      items.some(({ collateral }) => collateral === true) && !(await isValid(transactionId, signal))
    return items.filter(
      ({ collateral, reference, consumed_by_tx: spender }) =>
        (collateral === true) === failed && reference !== true && (spender === null || spender === undefined),
    )
  }

  async function unspentOutputs(transactionId: string, signal: AbortSignal): Promise<Utxo[]> {
    const shown = await shownBy(transactionId, signal)
    return readUtxos(await counted(transactionId, shown?.outputs ?? [], signal), scripts, signal)
  }

  const addressOutputs = createAddressOutputs({
    lists,
    find,
    tip,
    async changesOf(transactionId, signal) {
      const shown = await shownBy(transactionId, signal)
      if (shown === undefined) throw missing()
      const { inputs, outputs } = shown
      const items = new Set(await counted(transactionId, [...inputs, ...outputs], signal))
      return {
        created: outputs.filter((output) => items.has(output)),
        spent: inputs.filter((input) => items.has(input)),
      }
    },
  })

  async function spending(reference: OutputReference, signal: AbortSignal): Promise<Spending | undefined> {
    const created = await shownBy(toHex(reference.transactionId), signal)
    const spender = reading('Blockfrost', 'the outputs of a transaction', () => {
      const output = created?.outputs.find(({ output_index: index }) => countOf(index) === reference.index)
      return optionalText(output?.consumed_by_tx)
    })
    if (spender === undefined) return undefined
    const [bytes, shown] = await Promise.all([get(`/txs/${spender}/cbor`, signal), shownBy(spender, signal)])
    if (shown === undefined) throw missing()
    const read = shown.inputs.filter(({ reference: isRead }) => isRead === true)
    const known = new Map(
      (await readUtxos(read, scripts, signal)).map((utxo) => [outputReferenceKey(utxo.reference), utxo]),
    )
    return reading('Blockfrost', 'a transaction', () =>
      spendingBy(spendingPartsOf(fromHex(textOf(objectOf(bytes).cbor))), reference, (each) =>
        known.get(outputReferenceKey(each)),
      ),
    )
  }

  async function isValid(transactionId: string, signal: AbortSignal): Promise<boolean> {
    const body = await get(`/txs/${transactionId}`, signal)
    return reading('Blockfrost', 'a transaction', () => objectOf(body).valid_contract !== false)
  }

  async function tip(signal: AbortSignal): Promise<Tip> {
    const body = await get('/blocks/latest', signal)
    return reading('Blockfrost', 'a block', () => {
      const { slot, hash, height } = objectOf(body)
      return { slot: integerOf(slot), hash: hexOf(hash, 32), height: countOf(height) }
    })
  }

  const provider: Provider = {
    name: providerName,
    networkId: networkMagic === mainnetMagic ? 1 : 0,
    pollMs,
    utxosAt,
    async utxosAsOf(address, policy, signal) {
      // The list may be newer, never older.
      const { slot } = await tip(signal)
      return { slot, utxos: await utxosAt(address, policy, signal) }
    },
    async utxosByUnit(unit, signal) {
      const found = await pLimit(maxConcurrent).map(await holders(unit, signal), (address) =>
        utxosUnder(`/addresses/${address}/utxos/${unit}`, signal),
      )
      return found.flat()
    },
    utxosByPolicy: policyOutputs,
    async utxosByReferences(references, signal) {
      const wanted = new Set(references.map(outputReferenceKey))
      const transactions = [...new Set(references.map(({ transactionId }) => toHex(transactionId)))]
      const found = await pLimit(maxConcurrent).map(transactions, (id) => unspentOutputs(id, signal))
      return found.flat().filter(({ reference }) => wanted.has(outputReferenceKey(reference)))
    },
    spending,
    parameters: (signal) =>
      rememberParameters(async () => {
        const body = await get('/epochs/latest/parameters', signal)
        return reading('Blockfrost', 'protocol parameters', () => parseProtocolParameters(body))
      }),
    tip,
    async slots(signal) {
      const [genesis, eras] = await Promise.all([get('/genesis', signal), get('/network/eras', signal)])
      return reading('Blockfrost', 'genesis and eras', () => {
        const { start, parameters } = objectOf(arrayOf(eras).at(-1))
        const { time, slot } = objectOf(start)
        const seconds = integerOf(objectOf(genesis).system_start) + integerOf(time)
        const slotLength = Number(objectOf(parameters).slot_length) * 1000
        if (!Number.isInteger(slotLength) || slotLength <= 0) throw new TypeError('no slot length')
        return { zeroTime: seconds * 1000n, zeroSlot: integerOf(slot), slotLength }
      })
    },
    async checkNetwork(signal) {
      const genesis = await get('/genesis', signal)
      const magic = reading('Blockfrost', 'genesis', () => countOf(objectOf(genesis).network_magic))
      if (magic === networkMagic) return
      throw new Layer1Error(
        'LAYER1_WRONG_NETWORK',
        `Blockfrost serves network ${magic} instead of ${networkMagic}`,
      )
    },
    async send(cbor, signal) {
      const answer = await http.once(
        { method: 'POST', path: '/tx/submit', body: cbor, contentType: 'application/cbor' },
        signal,
      )
      if (answer.status === 400) {
        const reason = cleanReason(wordsOf(answer), [projectId])
        throw new Layer1Error('LAYER1_REJECTED', 'The network rejects the transaction', { reason })
      }
      const body = expected(answer)
      return reading('Blockfrost', 'a transaction id', () => hexOf(body, 32))
    },
    async status(transactionId, signal) {
      const body = await find(`/txs/${transactionId}`, signal)
      if (body === undefined) {
        // Servers without a mempool endpoint answer 400 or 404.
        const waiting = await http.read({ method: 'GET', path: `/mempool/${transactionId}` }, signal)
        return { kind: waiting.status === 200 ? 'pending' : 'unknown' }
      }
      const { height } = await tip(signal)
      return reading<TransactionStatus>('Blockfrost', 'a transaction', () => {
        const { slot, block, block_height: at } = objectOf(body)
        return {
          kind: 'confirmed',
          slot: integerOf(slot),
          blockHash: hexOf(block, 32),
          confirmations: Math.max(0, height - countOf(at)),
        }
      })
    },
    async evaluate(cbor, signal) {
      const path = '/utils/txs/evaluate'
      const request = { method: 'POST', path, body: toHex(cbor), contentType: 'application/cbor' } as const
      const answer = await http.read(request, signal)
      if (answer.status === 400) {
        const reason = cleanReason(wordsOf(answer), [projectId])
        throw new Layer1Error('LAYER1_REJECTED', 'The transaction cannot be evaluated', { reason })
      }
      return readEvaluation(expected(answer))
    },
  }
  return createLayer1(provider, limits)
}

async function readUtxos(
  items: readonly unknown[],
  scripts: ScriptByHash,
  signal: AbortSignal,
): Promise<Utxo[]> {
  const read = await pLimit(maxConcurrent).map(items, (item) => readUtxo(item, scripts, signal))
  return read.filter((utxo) => utxo !== undefined)
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
    throw new Layer1Error('LAYER1_REJECTED', 'The transaction cannot be evaluated', { reason })
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
