import { fromHex, toHex } from '@ratatosk/cbor'
import { decodeAddress, decodeBech32Address, decodeTransaction, encodeBech32Address } from '@ratatosk/ledger'
import { type Cip30Api, cip30Error, invalidRequest, type Paginate, PaginateError } from './cip30.js'
import {
  type Amount,
  decodeAmount,
  encodeAmount,
  encodeOutput,
  encodeUnspent,
  readLovelace,
  type Unspent,
} from './output.js'

/** Entries of a page; the most that Blockfrost allows. */
const pageSize = 100

interface OutputJson {
  readonly tx_hash: string
  readonly output_index: number
  readonly address: string
  readonly amount: readonly { readonly unit: string; readonly quantity: string }[]
  readonly data_hash: string | null
  readonly inline_datum: string | null
  readonly reference_script_hash: string | null
}

export interface LedgerClient {
  /** The unspent outputs of addresses (hex). */
  unspent(addresses: readonly string[]): Promise<Unspent[]>
  /** Bytes of the address of an output, spent or not; undefined if the ledger does not know it. */
  addressOf(transactionId: string, index: number): Promise<Uint8Array | undefined>
  /** @throws Cip30Error (rejects) a `TxSendError` that quotes the ledger */
  submit(transaction: Uint8Array): Promise<string>
}

/**
 * @param url such as `http://127.0.0.1:3000/l2/blockfrost/api/v0`
 * @param projectId sent as `project_id`, for a Blockfrost service that requires it
 */
export function createLedgerClient(url: string, projectId?: string): LedgerClient {
  const base = url.replace(/\/+$/, '')
  const headers: Record<string, string> = projectId === undefined ? {} : { project_id: projectId }
  const transactions = new Map<string, Promise<readonly OutputJson[]>>()

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    try {
      return await fetch(base + path, { ...init, headers: { ...headers, ...init.headers } })
    } catch (error) {
      const hint = 'Check that it runs and that its CORS_ORIGIN lists this page'
      throw cip30Error('APIError', 'InternalError', `${base} cannot be reached: ${error}. ${hint}`)
    }
  }

  /** The JSON of an answer; undefined for what the ledger does not know. */
  async function get<T>(path: string): Promise<T | undefined> {
    const response = await request(path)
    if (response.ok) return (await response.json().catch(refuseOther)) as T
    if (response.status === 404) {
      // Transactions may be of another ledger. Blockfrost has a status_code; another server lacks the path.
      if (path.startsWith('/txs/')) return undefined
      const json = (await response.json().catch(refuseOther)) as { readonly status_code?: unknown } | null
      return json?.status_code === 404 ? undefined : refuseOther()
    }
    throw cip30Error(
      'APIError',
      'InternalError',
      `${base}${path} answered ${response.status}: ${await reason(response)}`,
    )
  }

  const refuseOther = () => refuseUrl(base)

  async function outputsOf(id: string): Promise<readonly OutputJson[]> {
    let found = transactions.get(id)
    if (found === undefined) {
      found = get<{ outputs: readonly OutputJson[] }>(`/txs/${id}/utxos`).then((json) => json?.outputs ?? [])
      transactions.set(id, found)
    }
    try {
      const outputs = await found
      if (outputs.length === 0) transactions.delete(id)
      return outputs
    } catch (error) {
      transactions.delete(id)
      throw error
    }
  }

  /** Only the transaction has the bytes of a reference script of any language. */
  async function bytesOf({ tx_hash, output_index }: OutputJson): Promise<Uint8Array> {
    const json = await get<{ cbor: string }>(`/txs/${tx_hash}/cbor`)
    const output = json && decodeTransaction(fromHex(json.cbor)).body.outputs[output_index]
    if (output) return output.bytes
    throw cip30Error('APIError', 'InternalError', `${base} does not know transaction ${tx_hash}`)
  }

  async function read(json: OutputJson): Promise<Unspent> {
    const address = decodeBech32Address(json.address).bytes
    const amount: Amount = new Map(json.amount.map(({ unit, quantity }) => [unit, BigInt(quantity)]))
    const plain = { address, amount, datumHash: json.data_hash, inlineDatum: json.inline_datum }
    return {
      transactionId: json.tx_hash,
      index: json.output_index,
      amount,
      isPlain: json.inline_datum === null && json.data_hash === null && json.reference_script_hash === null,
      output: json.reference_script_hash === null ? encodeOutput(plain) : await bytesOf(json),
    }
  }

  return {
    async unspent(addresses) {
      const all: Unspent[] = []
      for (const hex of new Set(addresses)) {
        const address = decodeAddress(fromHex(hex))
        if (address.kind === 'byron') continue
        const path = `/addresses/${encodeBech32Address(address)}/utxos`
        for (let page = 1; ; page++) {
          const entries = (await get<OutputJson[]>(`${path}?page=${page}&count=${pageSize}`)) ?? []
          all.push(...(await Promise.all(entries.map(read))))
          if (entries.length < pageSize) break
        }
      }
      return all
    },
    async addressOf(id, index) {
      const output = (await outputsOf(id)).find(({ output_index }) => output_index === index)
      return output?.address.startsWith('addr') ? decodeBech32Address(output.address).bytes : undefined
    },
    async submit(transaction) {
      const response = await request('/tx/submit', {
        method: 'POST',
        headers: { 'content-type': 'application/cbor' },
        body: Uint8Array.from(transaction),
      })
      if (response.ok) return (await response.json()) as string
      const code = response.status === 429 ? 'Refused' : 'Failure'
      throw cip30Error('TxSendError', code, await reason(response))
    },
  }
}

function refuseUrl(url: string): never {
  const info = `${url} is no Blockfrost API: its URL ends in /l2/blockfrost/api/v0`
  throw cip30Error('APIError', 'InternalError', info)
}

async function reason(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const { message, error } = JSON.parse(text)
    return String(message ?? error ?? text)
  } catch {
    return text
  }
}

/** The bytes of hex in either case. */
export function bytesOfHex(hex: unknown, what: string): Uint8Array {
  if (typeof hex !== 'string' || !/^([0-9a-f]{2})*$/i.test(hex)) {
    throw cip30Error('APIError', 'InvalidRequest', `${what} must be hex`)
  }
  return fromHex(hex.toLowerCase())
}

/** The most that a page may ask for as collateral (CIP-30), in lovelace. */
const maxCollateral = 5_000_000n

/** The methods that a ledger answers, rather than a wallet. */
type WalletFunds = Pick<Cip30Api, 'getUtxos' | 'getCollateral' | 'getBalance' | 'submitTx'>

/** @param addresses those of the wallet, in hex */
export function fundsOf(client: LedgerClient, addresses: () => Promise<readonly string[]>): WalletFunds {
  const all = async (): Promise<Unspent[]> => client.unspent(await addresses())
  return {
    async getUtxos(amount, paginate) {
      const wanted =
        amount === undefined || amount === null ? undefined : decodeAmount(bytesOfHex(amount, 'amount'))
      const unspent = await all()
      const chosen = wanted === undefined ? unspent : choose(unspent, wanted)
      return chosen === undefined ? null : pageOf(chosen.map(encodeUnspent), paginate)
    },
    async getCollateral(params) {
      const lovelace = readLovelace(params?.amount ?? maxCollateral)
      if (lovelace > maxCollateral) throw invalidRequest('amount must not exceed 5 ada (5000000 lovelace)')
      const plain = (await all()).filter(({ amount, isPlain }) => isPlain && amount.size === 1)
      return choose(plain, new Map([['lovelace', lovelace]]))?.map(encodeUnspent) ?? null
    },
    async getBalance() {
      return toHex(encodeAmount(total(await all())))
    },
    async submitTx(tx) {
      return client.submit(bytesOfHex(tx, 'tx'))
    },
  }
}

function total(unspent: readonly Unspent[]): Amount {
  const sum = new Map<string, bigint>()
  for (const { amount } of unspent) {
    for (const [unit, quantity] of amount) sum.set(unit, (sum.get(unit) ?? 0n) + quantity)
  }
  return sum
}

/** The largest outputs of each unit until they hold the amount; undefined if all together do not. */
function choose(unspent: readonly Unspent[], wanted: Amount): readonly Unspent[] | undefined {
  const chosen = new Set<Unspent>()
  for (const [unit, quantity] of wanted) {
    const held = ({ amount }: Unspent): bigint => amount.get(unit) ?? 0n
    let missing = quantity
    for (const output of chosen) missing -= held(output)
    const others = unspent
      .filter((output) => !chosen.has(output) && held(output) > 0n)
      .sort((a, b) => (held(a) > held(b) ? -1 : 1))
    for (const output of others) {
      if (missing <= 0n) break
      chosen.add(output)
      missing -= held(output)
    }
    if (missing > 0n) return undefined
  }
  return [...chosen]
}

/** @throws PaginateError if there is no such page, other than the first */
export function pageOf<T>(entries: readonly T[], paginate: Paginate | null | undefined): T[] {
  if (paginate === undefined || paginate === null) return [...entries]
  const { page, limit } = paginate
  if (!Number.isSafeInteger(page) || page < 0 || !Number.isSafeInteger(limit) || limit < 1) {
    throw invalidRequest('paginate must be { page, limit }, with page from 0 and limit from 1')
  }
  const pages = Math.ceil(entries.length / limit)
  if (page > 0 && page >= pages) throw new PaginateError(pages)
  return entries.slice(page * limit, (page + 1) * limit)
}
