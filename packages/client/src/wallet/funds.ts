import { toHex } from '@ratatosk/cbor'
import { invalidRequest, PaginateError } from './errors.js'
import { bytesOfHex, type LedgerClient } from './ledger-client.js'
import {
  type Amount,
  decodeAmount,
  encodeAmount,
  encodeUnspent,
  readLovelace,
  type Unspent,
} from './output.js'
import type { Cip30Api, Paginate } from './types.js'

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
