import { decodeAddress, fromHex, isDecodeError, toHex } from '@ratatosk/ledger'
import { addressText, readAddressText } from '../../chain/address-text.js'
import { paymentCredential, units } from '../../chain/output-index.js'
import type { ChainOutput, UtxoQuery } from '../../chain/types.js'

/** Which outputs a request asks for. */
export interface Pattern {
  /** What the index of outputs can narrow down to; all of it is also in `matches`. */
  readonly query: UtxoQuery
  matches(output: ChainOutput): boolean
}

const hash28 = /^[0-9a-f]{56}$/
const hash32 = /^[0-9a-f]{64}$/

/**
 * Reads one of Kupo's patterns: `*`, an address (bech32, base58 or hex), `credential/credential` with `*` for any, `policy.name` with `*` for any name,
 * `index@transaction` with `*` for any index.
 *
 * @returns undefined where the text is no pattern
 */
export function readPattern(text: string): Pattern | undefined {
  if (text === '*' || text === '*/*') return { query: {}, matches: () => true }
  return readReference(text) ?? readAsset(text) ?? readCredentials(text) ?? readAddress(text)
}

function readReference(text: string): Pattern | undefined {
  const match = /^(\*|\d{1,5})@([0-9a-f]{64})$/.exec(text)
  if (match === null) return undefined
  const [, index, transaction] = match
  if (transaction === undefined) return undefined
  if (index === '*')
    return { query: { transaction }, matches: (output) => output.transactionHash === transaction }
  const key = `${transaction}#${Number(index)}`
  return { query: { references: [key] }, matches: (output) => output.key === key }
}

function readAsset(text: string): Pattern | undefined {
  const match = /^([0-9a-f]{56})\.(\*|(?:[0-9a-f]{2}){0,32})$/.exec(text)
  const [, policy, name] = match ?? []
  if (policy === undefined || name === undefined) return undefined
  if (name !== '*') return { query: { unit: policy + name }, matches: holds(policy + name) }
  return { query: {}, matches: ({ output }) => output.value.assets.has(policy) }
}

function readCredentials(text: string): Pattern | undefined {
  const parts = text.split('/')
  const [payment, stake] = parts
  if (parts.length !== 2 || !isCredential(payment) || !isCredential(stake)) return undefined
  return {
    query: payment === '*' ? {} : { paymentCredential: payment },
    matches: ({ output }) =>
      (payment === '*' || paymentCredential(output) === payment) &&
      (stake === '*' || stakeCredential(output) === stake),
  }
}

function readAddress(text: string): Pattern | undefined {
  try {
    const address = /^([0-9a-f]{2}){29,}$/.test(text) ? decodeAddress(fromHex(text)) : readAddressText(text)
    if (address.kind === 'reward') {
      const stake = toHex(address.stake.hash)
      return { query: {}, matches: ({ output }) => stakeCredential(output) === stake }
    }
    const bytes = toHex(address.bytes)
    return {
      query: { address: addressText(address) },
      matches: ({ output }) => toHex(output.address.bytes) === bytes,
    }
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}

/** Of a query string: `policy_id`, `asset_name`, `transaction_id`, `output_index`. */
export interface Filters {
  readonly policy_id?: string
  readonly asset_name?: string
  readonly transaction_id?: string
  readonly output_index?: string
}

/** @returns what is wrong with them, or the condition that they make */
export function readFilters(filters: Filters): string | ((output: ChainOutput) => boolean) {
  const { policy_id: policy, asset_name: name, transaction_id: transaction, output_index: index } = filters
  if (policy !== undefined && !hash28.test(policy)) return 'policy_id must be 56 lower-case hex digits'
  if (name !== undefined && policy === undefined) return 'asset_name needs a policy_id beside it'
  if (transaction !== undefined && !hash32.test(transaction)) {
    return 'transaction_id must be 64 lower-case hex digits'
  }
  if (index !== undefined && transaction === undefined) return 'output_index needs a transaction_id beside it'
  return (output) =>
    (policy === undefined || name !== undefined || output.output.value.assets.has(policy)) &&
    (policy === undefined || name === undefined || holds(policy + name)(output)) &&
    (transaction === undefined || output.transactionHash === transaction) &&
    (index === undefined || output.index === Number(index))
}

function holds(unit: string): (output: ChainOutput) => boolean {
  return ({ output }) => [...units(output)].includes(unit)
}

function isCredential(text: string | undefined): text is string {
  return text !== undefined && (text === '*' || hash28.test(text))
}

function stakeCredential({ address }: ChainOutput['output']): string | undefined {
  return 'stake' in address && address.stake !== undefined ? toHex(address.stake.hash) : undefined
}
