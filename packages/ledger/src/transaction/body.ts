import {
  type CborReader,
  located,
  nonEmpty,
  normalForm,
  readList,
  readMapOf,
  readSet,
  toHex,
} from '@ratatosk/cbor'
import type { RewardAddress } from '../address/types.js'
import { readCertificate } from './governance/certificate.js'
import { readHash28, readRewardAddress } from './governance/primitives.js'
import { readProposalProcedure, readVotingProcedures } from './governance/proposal.js'
import { readMint, readOutput } from './output.js'
import { outputReferenceKey, readOutputReference } from './output-reference.js'
import type { OutputReference, TransactionBody, ValidityInterval, Withdrawal } from './types.js'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** The fields by their number in the CDDL. Conway has removed number 6, the update of earlier eras. */
const fieldNames = new Map([
  [0, 'inputs'],
  [1, 'outputs'],
  [2, 'fee'],
  [3, 'validityInterval.invalidHereafter'],
  [4, 'certificates'],
  [5, 'withdrawals'],
  [7, 'auxiliaryDataHash'],
  [8, 'validityInterval.invalidBefore'],
  [9, 'mint'],
  [11, 'scriptDataHash'],
  [13, 'collateralInputs'],
  [14, 'requiredSigners'],
  [15, 'networkId'],
  [16, 'collateralReturn'],
  [17, 'totalCollateral'],
  [18, 'referenceInputs'],
  [19, 'votingProcedures'],
  [20, 'proposalProcedures'],
  [21, 'currentTreasury'],
  [22, 'treasuryDonation'],
])

const noItems: readonly never[] = []
const noInterval: ValidityInterval = {}
/** The required fields: inputs, outputs and fee. */
const requiredFields = 0b111

/** Decodes a transaction body of the Conway era: a map of known field numbers, each at most once. */
export function readBody(reader: CborReader): TransactionBody {
  const start = reader.position
  const body: Mutable<TransactionBody> = {
    bytes: reader.bytes,
    inputs: noItems,
    outputs: noItems,
    fee: 0n,
    validityInterval: noInterval,
    certificates: noItems,
    withdrawals: noItems,
    mint: new Map(),
    collateralInputs: noItems,
    requiredSigners: noItems,
    referenceInputs: noItems,
    votingProcedures: noItems,
    proposalProcedures: noItems,
    treasuryDonation: 0n,
  }
  const count = reader.readMap()
  let seen = 0
  for (let index = 0; reader.hasNext(count, index); index++) {
    const keyStart = reader.position
    const key = reader.readUint()
    const name = fieldNames.get(key)
    if (name === undefined) throw reader.error('CBOR_UNKNOWN_FIELD', `unknown field ${key}`, keyStart)
    if ((seen & (1 << key)) !== 0) throw reader.error('CBOR_DUPLICATE', `a repeated field ${key}`, keyStart)
    seen |= 1 << key
    try {
      readField(reader, key, body)
    } catch (error) {
      throw located(error, name)
    }
  }
  if ((seen & requiredFields) !== requiredFields) {
    const missing = [0, 1, 2].filter((key) => (seen & (1 << key)) === 0).map((key) => fieldNames.get(key))
    throw reader.error('CBOR_MISSING_FIELD', `a body without ${missing.join(' and ')}`, start)
  }
  body.bytes = reader.since(start)
  return body
}

function readField(reader: CborReader, key: number, body: Mutable<TransactionBody>): void {
  const start = reader.position
  switch (key) {
    case 0:
      body.inputs = readInputs(reader)
      return
    case 1:
      body.outputs = readList(reader, readOutput)
      return
    case 2:
      body.fee = reader.readUint64()
      return
    case 3:
      body.validityInterval = { ...body.validityInterval, invalidHereafter: reader.readUint64() }
      return
    case 4:
      body.certificates = nonEmpty(reader, start, readSet(reader, readCertificate, normalForm))
      return
    case 5:
      body.withdrawals = nonEmpty(reader, start, readWithdrawals(reader))
      return
    case 7:
      body.auxiliaryDataHash = reader.readBytesOf(32)
      return
    case 8:
      body.validityInterval = { ...body.validityInterval, invalidBefore: reader.readUint64() }
      return
    case 9:
      body.mint = nonEmpty(reader, start, readMint(reader))
      return
    case 11:
      body.scriptDataHash = reader.readBytesOf(32)
      return
    case 13:
      body.collateralInputs = nonEmpty(reader, start, readInputs(reader))
      return
    case 14:
      body.requiredSigners = nonEmpty(reader, start, readSet(reader, readHash28, toHex))
      return
    case 15:
      body.networkId = reader.readUint(1)
      return
    case 16:
      body.collateralReturn = readOutput(reader)
      return
    case 17:
      body.totalCollateral = reader.readUint64()
      return
    case 18:
      body.referenceInputs = nonEmpty(reader, start, readInputs(reader))
      return
    case 19:
      body.votingProcedures = nonEmpty(reader, start, readVotingProcedures(reader))
      return
    case 20:
      body.proposalProcedures = nonEmpty(reader, start, readSet(reader, readProposalProcedure, normalForm))
      return
    case 21:
      body.currentTreasury = reader.readUint64()
      return
    case 22:
      body.treasuryDonation = reader.readUint64()
      if (body.treasuryDonation === 0n) throw reader.error('CBOR_EMPTY', 'a donation of zero', start)
  }
}

function readInputs(reader: CborReader): OutputReference[] {
  return readSet(reader, readOutputReference, outputReferenceKey)
}

function readWithdrawals(reader: CborReader): Withdrawal[] {
  let account: RewardAddress
  const withdrawals = readMapOf(
    reader,
    (inner) => {
      account = readRewardAddress(inner)
      return toHex(account.bytes)
    },
    (inner) => ({ account, lovelace: inner.readUint64() }),
  )
  return [...withdrawals.values()]
}
