import { CborReader, toHex } from '@ratatosk/cbor'
import { outputReferenceKey } from '../transaction/output-reference.js'
import type { Transaction } from '../transaction/types.js'
import { resolve, type UtxoView } from './context.js'
import { type Failures, Findings } from './predicates.js'
import { scriptUse } from './script-use.js'
import { allOutputs } from './utxo.js'

/**
 * The most that layer 2 allows of a transaction, so that a proof of any breach of its rules, the removal of
 * the block and the slashing fit into one transaction of layer 1: `COSTS.md` of `@ratatosk/contracts` has the
 * worst of each.
 */
export const profileLimits = {
  /** Bytes of a transaction, which bound those of a block. */
  transactionBytes: 16_384,
  /** Bytes of a body and of a witness set: each fits into the datum of an output of layer 1. */
  bodyBytes: 14_336,
  witnessSetBytes: 14_336,
  /** CBOR items: every head, those of containers, tags and chunks of strings included, and every break. */
  bodyItems: 600,
  witnessSetItems: 600,
  /** Inputs, of which each reference input counts as two: it may take two proofs of maps. */
  inputs: 60,
  outputs: 100,
  keyWitnesses: 32,
  scripts: 20,
  datums: 80,
  redeemers: 20,
  /** CBOR items and bytes of all outputs that inputs and reference inputs stand for. */
  resolvedItems: 600,
  resolvedBytes: 65_536,
  /** CBOR items of a native script that a transaction needs. */
  nativeScriptItems: 80,
} as const

/**
 * Refuses to mint or burn assets that come from layer 1.
 *
 * @param bridged policies, 56 hex digits each; none by default
 */
export function validateMint({ body }: Transaction, bridged: ReadonlySet<string> = new Set()): Failures {
  const findings = new Findings()
  const minted = [...body.mint.keys()].filter((policy) => bridged.has(policy))
  if (minted.length > 0)
    findings.add('BridgedPolicyMinted', 'Assets of these policies come from layer 1; none are minted here', {
      policies: minted,
    })
  return findings.failures
}

/**
 * Validates the layer-2 profile: refuses what needs stake or governance state, transactions marked invalid,
 * and encodings that a validator on layer 1 could not read. The predicates of the profile are specific to
 * this package; all other rules are those of the ledger, unchanged.
 *
 * A script may withdraw zero lovelace, because scripts use this to observe the whole transaction. Withdrawals
 * of keys are refused: they have no such use, and whether the account is registered is stake state.
 *
 * @returns every broken rule of the profile; empty if there is none
 */
export function validateProfile(transaction: Transaction): Failures {
  const { body, isValid } = transaction
  const findings = new Findings()
  if (body.certificates.length > 0) {
    findings.add('CertificatesNotSupported', 'Layer 2 has no stake and no delegation', {
      certificates: body.certificates.map(({ kind }) => kind),
    })
  }
  const withdrawals = body.withdrawals.filter(
    ({ account, lovelace }) => lovelace > 0n || account.kind !== 'reward' || account.stake.kind === 'key',
  )
  if (withdrawals.length > 0) {
    findings.add(
      'WithdrawalsNotSupported',
      'Only a script may withdraw, and only zero, because layer 2 has no rewards',
      {
        withdrawals: withdrawals.map(({ account, lovelace }) => ({
          account: toHex(account.bytes),
          lovelace: String(lovelace),
        })),
      },
    )
  }
  if (body.votingProcedures.length > 0) {
    findings.add('VotesNotSupported', 'Layer 2 has no governance', { votes: body.votingProcedures.length })
  }
  if (body.proposalProcedures.length > 0) {
    findings.add('ProposalsNotSupported', 'Layer 2 has no governance', {
      proposals: body.proposalProcedures.map(({ kind }) => kind),
    })
  }
  if (body.treasuryDonation > 0n) {
    findings.add('DonationsNotSupported', 'Layer 2 has no treasury', {
      lovelace: String(body.treasuryDonation),
    })
  }
  if (body.currentTreasury !== undefined) {
    findings.add('TreasuryValueNotSupported', 'Layer 2 has no treasury', {
      lovelace: String(body.currentTreasury),
    })
  }
  if (!isValid) {
    findings.add('InvalidTransactionsNotSupported', 'Layer 2 includes no transaction that is marked invalid')
  }
  const byron = allOutputs(transaction).flatMap(({ address }) => (address.kind === 'byron' ? [address] : []))
  if (byron.length > 0) {
    findings.add('ByronAddressesNotSupported', 'Layer 2 has no outputs at addresses of the Byron era', {
      addresses: byron.map(({ bytes }) => toHex(bytes)),
    })
  }
  validateCounts(transaction, findings)
  validateEncoding(transaction, findings)
  return findings.failures
}

/**
 * Validates the rules of the profile that need the unspent outputs: what inputs and reference inputs stand
 * for, and the native scripts that are needed, must not be more than layer 1 can read. Unknown inputs count
 * as nothing.
 *
 * @returns every broken rule; empty if there is none
 */
export function validateProfileOfInputs(transaction: Transaction, utxos: UtxoView): Failures {
  const { inputs, referenceInputs } = transaction.body
  const outputs = [...inputs, ...referenceInputs].flatMap((reference) => {
    const output = utxos.get(outputReferenceKey(reference))
    return output === undefined ? [] : [output]
  })
  const pieces = outputs.map(({ bytes }) => bytes)
  const failures = [...validatePart('resolved outputs', pieces)]
  if (transaction.witnesses.scripts.length === 0 && !outputs.some((output) => output.referenceScript))
    return failures
  const { neededHashes, provided } = scriptUse(transaction, resolve(transaction, utxos))
  for (const hash of neededHashes) {
    const script = provided.get(hash)
    if (script?.language === 'native') failures.push(...validatePart('native script', [script.bytes]))
  }
  return failures
}

function validateCounts({ body, witnesses }: Transaction, findings: Findings): void {
  const { inputs, outputs, keyWitnesses, scripts, datums, redeemers } = profileLimits
  const counts = [
    ['TooManyInputs', 'inputs', body.inputs.length + 2 * body.referenceInputs.length, inputs],
    ['TooManyOutputs', 'outputs', body.outputs.length, outputs],
    ['TooManyKeyWitnesses', 'key witnesses', witnesses.keyWitnesses.length, keyWitnesses],
    ['TooManyScriptWitnesses', 'script witnesses', witnesses.scripts.length, scripts],
    ['TooManyDatums', 'datums', membersIn(witnesses.datumsBytes), datums],
    ['TooManyRedeemers', 'redeemers', membersIn(witnesses.redeemersBytes), redeemers],
  ] as const
  for (const [predicate, what, count, maximum] of counts) {
    if (count <= maximum) continue
    const weight = what === 'inputs' ? ', where a reference input counts as two' : ''
    findings.add(
      predicate,
      `The transaction has ${count} ${what}, at most ${maximum} are supported${weight}`,
      {
        count,
        maximum,
      },
    )
  }
}

/** How many members a list, set or map has, equal ones included, of which the decoder keeps one. */
function membersIn(cbor: Uint8Array | undefined): number {
  if (cbor === undefined) return 0
  const reader = new CborReader(cbor)
  if (reader.peekMajor() === 6) reader.readTag()
  const isMap = reader.peekMajor() === 5
  const count = isMap ? reader.readMap() : reader.readArray()
  let members = 0
  for (; reader.hasNext(count, members); members++) {
    reader.skip()
    if (isMap) reader.skip()
  }
  return members
}

/** The first bytes of definite arrays, and the first of those of each kind of item. */
const head = { arrayOfTwo: 0x82, arrayOfFour: 0x84, strings: 0x40, arrays: 0x80, floats: 0xe0, stop: 0xff }

/**
 * The encodings that a validator on layer 1 reads. It walks body and witness set with a bounded effort, and
 * must read what the decoder reads; for the ledger, all encodings of a transaction are equal.
 */
function validateEncoding({ bytes, body, witnesses }: Transaction, findings: Findings): void {
  if (bytes[0] !== head.arrayOfFour)
    findings.add(
      'IndefiniteTransactionNotSupported',
      'The transaction must be a definite array of four items',
    )
  validateLength('transaction', bytes.length, profileLimits.transactionBytes, findings)
  findings.failures.push(...validatePart('body', [body.bytes]))
  findings.failures.push(...validatePart('witness set', [witnesses.bytes]))
  const references = [body.inputs, body.collateralInputs, body.referenceInputs].flat()
  if (references.some(({ transactionId }) => arrayHead(body.bytes, transactionId) !== head.arrayOfTwo))
    findings.add(
      'IndefiniteReferencesNotSupported',
      'Each input must be a definite array of transaction id and index',
    )
  const { keyWitnesses, bootstrapWitnesses } = witnesses
  if (
    keyWitnesses.some(({ publicKey }) => arrayHead(witnesses.bytes, publicKey) !== head.arrayOfTwo) ||
    bootstrapWitnesses.some(({ publicKey }) => arrayHead(witnesses.bytes, publicKey) !== head.arrayOfFour)
  )
    findings.add('IndefiniteKeyWitnessesNotSupported', 'Each key witness must be a definite array')
}

/** The limits of what layer 1 walks: a transaction, and the outputs that it refers to. */
const maxima = {
  body: { items: profileLimits.bodyItems, bytes: profileLimits.bodyBytes },
  'witness set': { items: profileLimits.witnessSetItems, bytes: profileLimits.witnessSetBytes },
  'resolved outputs': { items: profileLimits.resolvedItems, bytes: profileLimits.resolvedBytes },
  'native script': { items: profileLimits.nativeScriptItems },
} as const

/**
 * Refuses what is too much for layer 1, or has heads that it could misread.
 *
 * @param pieces well-formed CBOR: one, or all resolved outputs
 */
export function validatePart(part: keyof typeof maxima, pieces: readonly Uint8Array[]): Failures {
  const findings = new Findings()
  const surveys = pieces.map(survey)
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
  const { items: maxItems, bytes: maxBytes }: { readonly items: number; readonly bytes?: number } =
    maxima[part]
  const items = sum(surveys.map((each) => each.items))
  if (items > maxItems)
    findings.add('TooManyItems', `The ${part} has ${items} CBOR items, at most ${maxItems} are supported`, {
      part,
      items,
      maximum: maxItems,
    })
  const bytes = sum(pieces.map(({ length }) => length))
  if (maxBytes !== undefined) validateLength(part, bytes, maxBytes, findings)
  const offset = surveys.find(({ longHead }) => longHead !== undefined)?.longHead
  if (offset !== undefined)
    findings.add('LongHeadsNotSupported', `A number or length of the ${part} is not in its shortest form`, {
      part,
      offset,
    })
  return findings.failures
}

function validateLength(part: string, bytes: number, maximum: number, findings: Findings): void {
  if (bytes <= maximum) return
  findings.add('TooManyBytes', `The ${part} has ${bytes} bytes, at most ${maximum} are supported`, {
    part,
    bytes,
    maximum,
  })
}

/** The byte before the first item of an array of 32-byte strings (heads of two bytes), which `view` views. */
function arrayHead(bytes: Uint8Array, view: Uint8Array): number | undefined {
  return bytes[view.byteOffset - bytes.byteOffset - 3]
}

/**
 * Counts the items of well-formed CBOR: every head, those of containers, tags and chunks included, and every
 * break. `longHead`: offset of the first head whose argument fits into fewer bytes.
 */
function survey(bytes: Uint8Array): { readonly items: number; readonly longHead: number | undefined } {
  let items = 0
  let longHead: number | undefined
  for (let position = 0; position < bytes.length; ) {
    const start = position
    const initial = bytes[position++] as number
    items++
    if (initial === head.stop) continue
    const info = initial & 0x1f
    let argument = info
    if (info > 23 && info < 28) {
      const width = 1 << (info - 24)
      argument = 0
      for (let i = 0; i < width; i++) argument = argument * 256 + (bytes[position + i] as number)
      position += width
      const least = info === 24 ? 24 : 256 ** (width / 2)
      if (argument < least && initial < head.floats) longHead ??= start
    }
    if (initial >= head.strings && initial < head.arrays && info !== 31) position += argument
  }
  return { items, longHead }
}
