import { outputReferenceKey } from '@ratatosk/ledger'
import { readAdditionalOutputs } from '../evaluation/additional-outputs.js'
import { InvalidInputError, isObject, type JsonObject, readFields, readText } from '../input.js'
import type { OgmiosVersion } from '../options.js'
import { envelopeHint, hexBytes, isMaryTransaction, unwrapped } from '../transaction-bytes.js'
import type { ChainView } from '../view/chain-view.js'
import { evaluationJson, incompatibleEra } from './json/evaluation-json.js'
import { submitFailure } from './json/submit-failure.js'
import { networkName } from './json/transaction-json.js'
import { RpcError, unavailable } from './rpc.js'

export async function submitTransaction(
  chain: ChainView,
  { transaction: given }: JsonObject,
  version: OgmiosVersion,
): Promise<unknown> {
  const result = await chain.submit(readCbor(given, version))
  if (result.kind === 'malformed') throw malformed(result.message, version)
  if (result.kind === 'accepted') return { transaction: { id: result.hash } }
  if (result.kind === 'undecided') {
    throw new RpcError(unavailable, result.message, { retryAfterMilliseconds: result.retryAfterMs })
  }
  const { failures, transaction } = result
  const { inputs, collateralInputs } = transaction.body
  const { code, message, data } = submitFailure(failures, {
    transaction,
    utxos: await chain.pendingOutputs([...inputs, ...collateralInputs].map(outputReferenceKey)),
    keyDeposit: chain.parameters.keyDeposit,
    network: networkName(chain),
  })
  throw new RpcError(code, message, data)
}

export async function evaluateTransaction(
  chain: ChainView,
  { transaction, additionalUtxo = [] }: JsonObject,
  version: OgmiosVersion,
  signal: AbortSignal,
): Promise<unknown> {
  const cbor = readCbor(transaction, version)
  const additional = readAdditionalOutputs(additionalUtxo, 'additionalUtxo', {
    dialect: 'ogmios',
    maxValueSize: chain.parameters.maxValueSize,
  })
  const evaluation = await chain.evaluate(cbor, additional, signal, version === '7')
  if (evaluation.kind !== 'malformed') return evaluationJson(evaluation)
  if (version === '6' && isMaryTransaction(cbor)) throw incompatibleEra('mary')
  throw malformed(evaluation.message, version)
}

/** The eras in which Ogmios tries to decode a transaction. */
const eras = {
  '6': { shelley: '', allegra: '', mary: '', alonzo: '', babbage: '' },
  '7': { alonzo: '', babbage: '' },
} as const satisfies Record<OgmiosVersion, object>

export function malformed(reason: string, version: OgmiosVersion): RpcError {
  const message =
    "Invalid transaction; It looks like the given transaction wasn't well-formed. " +
    'See data.conway: the other eras are not tried.'
  return new RpcError(-32602, message, { ...eras[version], conway: reason })
}

function readCbor(transaction: unknown, version: OgmiosVersion): Uint8Array {
  const envelope = isObject(transaction) && 'cborHex' in transaction ? '{"cborHex"' : ''
  const hint = envelopeHint(envelope)
  if (hint !== undefined) throw new InvalidInputError(`${hint}, as "cbor".`)
  const { cbor } = readFields(transaction, 'transaction', ['cbor'])
  const text = readText(cbor, 'transaction.cbor')
  const bytes = hexBytes(text)
  if (bytes === undefined) throw malformed(envelopeHint(text) ?? 'not in base16', version)
  return unwrapped(bytes)
}
