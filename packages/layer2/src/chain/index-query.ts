import { fromHex } from '@ratatosk/cbor'
import type { ChainOutputQuery } from '@ratatosk/chain-apis'
import { type OutputReference, splitUnit } from '@ratatosk/ledger'
import type { OutputQuery } from '../ledger-index/index.js'

/** The query as the index takes it; undefined if no output can match. */
export function indexQuery(query: ChainOutputQuery): OutputQuery | undefined {
  const { address, paymentCredential, stakeCredential, policy, unit, references, transaction, spent } = query
  const wanted = references?.flatMap((key) => readReference(key) ?? [])
  if (wanted?.length === 0) return undefined
  if (transaction !== undefined && !/^[0-9a-f]{64}$/.test(transaction)) return undefined
  if (unit !== undefined && !/^[0-9a-f]{56}([0-9a-f]{2}){0,32}$/.test(unit)) return undefined
  if (unit !== undefined && policy !== undefined && !unit.startsWith(policy)) return undefined
  return {
    ...(address !== undefined && { address: fromHex(address) }),
    ...(paymentCredential !== undefined && { paymentCredential: fromHex(paymentCredential) }),
    ...(stakeCredential !== undefined && { stakeCredential: fromHex(stakeCredential) }),
    ...(policy !== undefined && { policy: fromHex(policy) }),
    ...(unit !== undefined && assetOf(unit)),
    ...(wanted !== undefined && { references: wanted }),
    ...(transaction !== undefined && { transaction: fromHex(transaction) }),
    ...(spent !== undefined && { spent }),
  }
}

/** Reads `<64 hex digits>#<index>`; undefined if the text is no output reference. */
export function readReference(key: string): OutputReference | undefined {
  const [, id, index] = /^([0-9a-f]{64})#(\d{1,5})$/.exec(key) ?? []
  if (id === undefined || Number(index) > 0xffff) return undefined
  return { transactionId: fromHex(id), index: Number(index) }
}

/** An asset as the index names it. @param unit policy id and asset name in hex */
export function assetOf(unit: string) {
  const { policy, name } = splitUnit(unit)
  return { policy: fromHex(policy), assetName: fromHex(name) }
}
