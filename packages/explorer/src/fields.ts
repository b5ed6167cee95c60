import { CborReader, isCborError, isDecodeError } from '@ratatosk/cbor'

/** A field of a transaction in its CBOR, in bytes. */
interface TransactionField {
  readonly name: string
  readonly offset: number
  readonly length: number
}

/** Names of the body's fields by their keys in the CDDL of the Conway era. */
const bodyNames: Readonly<Record<number, string>> = {
  0: 'inputs',
  1: 'outputs',
  2: 'fee',
  3: 'validUntil',
  4: 'certificates',
  5: 'withdrawals',
  7: 'auxiliaryDataHash',
  8: 'validFrom',
  9: 'mint',
  11: 'scriptDataHash',
  13: 'collateralInputs',
  14: 'requiredSigners',
  15: 'networkId',
  16: 'collateralReturn',
  17: 'totalCollateral',
  18: 'referenceInputs',
  19: 'votingProcedures',
  20: 'proposalProcedures',
  21: 'currentTreasury',
  22: 'treasuryDonation',
}

const witnessNames: Readonly<Record<number, string>> = {
  0: 'keys',
  1: 'nativeScripts',
  2: 'bootstrap',
  3: 'plutusV1Scripts',
  4: 'datums',
  5: 'redeemers',
  6: 'plutusV2Scripts',
  7: 'plutusV3Scripts',
}

const feeKey = 2

/** The fields of a transaction that the ledger decodes: body, witness set, `isValid`, `auxiliaryData`. */
export function fieldsOf(transaction: Uint8Array): TransactionField[] {
  const reader = new CborReader(transaction)
  reader.readArray()
  const fields = [...membersOf(reader, 'body', bodyNames), ...membersOf(reader, 'witnesses', witnessNames)]
  for (const name of ['isValid', 'auxiliaryData']) fields.push(skipped(reader, name))
  return fields
}

/** The fee in lovelace, without the rest, in microseconds; undefined if these bytes are no transaction. */
export function feeOf(transaction: Uint8Array): bigint | undefined {
  const reader = new CborReader(transaction)
  try {
    reader.readArray()
    const count = reader.readMap()
    for (let i = 0; reader.hasNext(count, i); i++) {
      if (reader.readUint() === feeKey) return reader.readUint64()
      reader.skip()
    }
  } catch (error) {
    if (!isDecodeError(error) && !isCborError(error)) throw error
  }
  return undefined
}

function membersOf(
  reader: CborReader,
  part: string,
  names: Readonly<Record<number, string>>,
): TransactionField[] {
  const fields: TransactionField[] = []
  const count = reader.readMap()
  for (let i = 0; reader.hasNext(count, i); i++) {
    const key = reader.readUint()
    fields.push(skipped(reader, `${part}.${names[key] ?? key}`))
  }
  return fields
}

function skipped(reader: CborReader, name: string): TransactionField {
  const offset = reader.position
  reader.skip()
  return { name, offset, length: reader.position - offset }
}
