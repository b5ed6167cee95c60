import { compareBytes, toHex } from '@ratatosk/cbor'
import type { Address, Credential } from '../address/types.js'
import type {
  OutputReference,
  PlutusLanguage,
  ProposalProcedure,
  Redeemer,
  RedeemerPurpose,
  Script,
  Transaction,
  VotingProcedure,
  Withdrawal,
} from '../transaction/types.js'
import { type Resolution, resolve, scriptSources } from './context.js'

/** A script that has to run, and the redeemer pointer that belongs to it. */
interface ScriptNeed {
  readonly purpose: RedeemerPurpose
  readonly index: number
  /** Hex. */
  readonly scriptHash: string
}

/** The scripts that a transaction needs and those that it provides. Hashes are hex. */
export interface ScriptUse {
  readonly needs: readonly ScriptNeed[]
  readonly neededHashes: ReadonlySet<string>
  /** From the witness set and from reference scripts. */
  readonly provided: ReadonlyMap<string, Script>
  readonly witnessed: ReadonlySet<string>
  readonly referenced: ReadonlySet<string>
  /** Total size of all reference scripts in bytes; duplicates count each time. */
  readonly referenceScriptsSize: number
  /** False if an input is unknown: the transaction may then need or provide further scripts. */
  readonly complete: boolean
}

export function scriptUse(transaction: Transaction, resolution: Resolution): ScriptUse {
  const provided = new Map<string, Script>()
  const referenced = new Set<string>()
  let referenceScriptsSize = 0
  for (const { referenceScript } of scriptSources(resolution)) {
    if (!referenceScript) continue
    const hash = toHex(referenceScript.hash)
    referenceScriptsSize += referenceScript.bytes.length
    referenced.add(hash)
    provided.set(hash, referenceScript)
  }
  const witnessed = new Set<string>()
  for (const script of transaction.witnesses.scripts) {
    const hash = toHex(script.hash)
    witnessed.add(hash)
    if (!provided.has(hash)) provided.set(hash, script)
  }
  const needs = scriptNeeds(transaction, resolution)
  return {
    needs,
    neededHashes: new Set(needs.map(({ scriptHash }) => scriptHash)),
    provided,
    witnessed,
    referenced,
    referenceScriptsSize,
    complete: resolution.missing.length === 0,
  }
}

export function languagesUsed({ neededHashes, provided }: ScriptUse): ReadonlySet<PlutusLanguage> {
  const languages = new Set<PlutusLanguage>()
  for (const hash of neededHashes) {
    const language = provided.get(hash)?.language
    if (language !== undefined && language !== 'native') languages.add(language)
  }
  return languages
}

/** The output that a redeemer is for, whose address has the hash of its script, or that hash in hex. */
export type RedeemerTarget = { readonly output: OutputReference } | { readonly script: string }

/** Finds what the redeemers of a transaction are for, without its outputs; undefined for nothing. */
export function redeemerTargets(
  transaction: Transaction,
): (redeemer: Pick<Redeemer, 'purpose' | 'index'>) => RedeemerTarget | undefined {
  const resolution = resolve(transaction, new Map())
  const needs = scriptNeeds(transaction, resolution)
  return ({ purpose, index }) => {
    if (purpose === 'spend') {
      const input = resolution.inputs[index]
      return input && { output: input.reference }
    }
    const need = needs.find((each) => each.purpose === purpose && each.index === index)
    return need && { script: need.scriptHash }
  }
}

function scriptNeeds({ body }: Transaction, { inputs }: Resolution): readonly ScriptNeed[] {
  const needs: ScriptNeed[] = []
  const need = (purpose: RedeemerPurpose, index: number, hash: Uint8Array | undefined): void => {
    if (hash) needs.push({ purpose, index, scriptHash: toHex(hash) })
  }
  inputs.forEach(({ output }, index) => {
    if (output) need('spend', index, scriptOf(paymentCredential(output.address)))
  })
  if (body.withdrawals.length > 0) {
    const accounts = [...body.withdrawals].sort(byAccount)
    accounts.forEach(({ account }, index) => {
      need('reward', index, account.kind === 'reward' ? scriptOf(account.stake) : undefined)
    })
  }
  body.certificates.forEach(({ witness }, index) => {
    need('cert', index, scriptOf(witness))
  })
  if (body.mint.size > 0) {
    const policies = [...body.mint.keys()].sort()
    policies.forEach((scriptHash, index) => {
      needs.push({ purpose: 'mint', index, scriptHash })
    })
  }
  if (body.votingProcedures.length > 0) {
    const votes = [...body.votingProcedures].sort(byVoter)
    votes.forEach(({ voter }, index) => {
      need('vote', index, scriptOf(voter.credential))
    })
  }
  body.proposalProcedures.forEach(({ policyHash }: ProposalProcedure, index) => {
    need('propose', index, policyHash)
  })
  return needs
}

function paymentCredential(address: Address): Credential | undefined {
  return address.kind === 'byron' || address.kind === 'reward' ? undefined : address.payment
}

function scriptOf(credential: Credential | undefined): Uint8Array | undefined {
  return credential?.kind === 'script' ? credential.hash : undefined
}

/**
 * The ledger sorts script credentials before key credentials, unlike the bytes of addresses and
 * plutus-ledger-api.
 */
export function byCredential(a: Credential, b: Credential): number {
  if (a.kind !== b.kind) return a.kind === 'script' ? -1 : 1
  return compareBytes(a.hash, b.hash)
}

/** Sorts by network, then by credential. */
export function byAccount(
  { account: a }: Pick<Withdrawal, 'account'>,
  { account: b }: Pick<Withdrawal, 'account'>,
): number {
  if (a.networkId !== b.networkId) return a.networkId - b.networkId
  return a.kind === 'reward' && b.kind === 'reward' ? byCredential(a.stake, b.stake) : 0
}

const roles: readonly VotingProcedure['voter']['role'][] = ['committee', 'drep', 'pool']

export function byVoter({ voter: a }: VotingProcedure, { voter: b }: VotingProcedure): number {
  return roles.indexOf(a.role) - roles.indexOf(b.role) || byCredential(a.credential, b.credential)
}
