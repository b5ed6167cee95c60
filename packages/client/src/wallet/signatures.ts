import { BytesSet, CborWriter, isDecodeError, toHex } from '@ratatosk/cbor'
import {
  type Address,
  blake2b224,
  type Credential,
  decodeAddress,
  decodeTransaction,
  type NativeScript,
  type OutputReference,
  type Transaction,
} from '@ratatosk/ledger'
import { cip30Error, invalidRequest } from './cip30.js'
import { bytesOfHex, type LedgerClient } from './ledger-client.js'

/** @throws Cip30Error `InvalidRequest` if the hex is not a transaction */
export function readTransaction(tx: unknown): Transaction {
  try {
    return decodeTransaction(bytesOfHex(tx, 'tx'))
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw invalidRequest(`tx is not the CBOR of a Conway transaction: ${error.message}`)
  }
}

interface NeededKeys {
  readonly hashes: BytesSet
  /** Keys that native scripts name; which of them have to sign depends on the script. */
  readonly optional: BytesSet
  /** Inputs whose owners the ledger does not know, as `<id>#<index>`. */
  readonly unknown: readonly string[]
}

/** The keys of rule MissingVKeyWitnessesUTXOW, and those that the transaction's native scripts name. */
export async function neededKeys(
  { body, witnesses }: Transaction,
  client: LedgerClient,
): Promise<NeededKeys> {
  const hashes = new BytesSet()
  const optional = new BytesSet()
  const unknown: string[] = []
  const need = ({ kind, hash }: Credential): void => {
    if (kind === 'key') hashes.add(hash)
  }
  const needOwner = async ({ transactionId, index }: OutputReference): Promise<void> => {
    const id = toHex(transactionId)
    const bytes = await client.addressOf(id, index)
    if (bytes === undefined) {
      unknown.push(`${id}#${index}`)
      return
    }
    const address: Address = decodeAddress(bytes)
    if ('payment' in address) need(address.payment)
  }
  await Promise.all([...body.inputs, ...body.collateralInputs].map(needOwner))
  for (const { account } of body.withdrawals) if (account.kind === 'reward') need(account.stake)
  for (const { witness, owners } of body.certificates) {
    if (witness) need(witness)
    for (const owner of owners ?? []) hashes.add(owner)
  }
  for (const hash of body.requiredSigners) hashes.add(hash)
  for (const { voter } of body.votingProcedures) need(voter.credential)

  const collect = (script: NativeScript): void => {
    if (script.kind === 'signature') optional.add(script.keyHash)
    else if ('scripts' in script) script.scripts.forEach(collect)
  }
  for (const script of witnesses.scripts) if (script.language === 'native') collect(script.script)
  return { hashes, optional, unknown }
}

/** Checks that transaction and witness set have all signatures. Throws `TxSignError` `ProofGeneration`. */
export function assertComplete(
  { body, witnesses }: Transaction,
  witnessSet: Uint8Array,
  { hashes, unknown }: NeededKeys,
): void {
  const [input] = unknown
  if (input !== undefined) {
    throw cip30Error(
      'TxSignError',
      'ProofGeneration',
      `The ledger does not know input ${input}, so its owner is unknown. Submit the transaction ` +
        'that makes it first, or pass partialSign',
    )
  }
  const signed = new CborWriter().array(4).raw(body.bytes).raw(witnessSet).boolean(true).null().toBytes()
  const { keyWitnesses } = decodeTransaction(signed).witnesses
  const missing = new BytesSet(hashes)
  for (const { publicKey } of [...witnesses.keyWitnesses, ...keyWitnesses])
    missing.delete(blake2b224(publicKey))
  if (missing.size === 0) return
  const names = Array.from(missing, (hash) => toHex(hash)).join(', ')
  throw cip30Error(
    'TxSignError',
    'ProofGeneration',
    `The wallet does not have the keys ${names}. Pass partialSign if others sign for them`,
  )
}
