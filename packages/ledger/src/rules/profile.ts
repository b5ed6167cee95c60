import { CborReader, toHex } from '@ratatosk/cbor'
import { outputReferenceKey } from '../transaction/output-reference.js'
import type { Transaction } from '../transaction/types.js'
import type { UtxoView } from './context.js'
import { validateEncoding, validatePart } from './encoding.js'
import { type Failures, Findings } from './predicates.js'
import { profileLimits } from './profile-limits.js'
import { resolve } from './resolution.js'
import { scriptUse } from './script-use.js'
import { allOutputs } from './utxo.js'

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
