import { CborWriter, concatBytes } from '@ratatosk/cbor'
import {
  encodeAssets,
  encodeBytes,
  encodeDraft,
  encodeInput,
  encodeList,
  encodeOutput,
  encodeSet,
  encodeUint,
} from '@ratatosk/fixtures'
import type { OutputReference } from '@ratatosk/ledger'
import type { AppliedTransaction, LedgerEntry } from '@ratatosk/store'
import { acceptedOf } from '@ratatosk/test-kit'

/** 28 bytes for each number. */
export const credential = (number: number): Uint8Array => new Uint8Array(28).fill(number)

/** An enterprise or base address. */
export function addressOf(payment: number, stake?: number): Uint8Array {
  if (stake === undefined) return concatBytes(Uint8Array.of(0x60), credential(payment))
  return concatBytes(Uint8Array.of(0x00), credential(payment), credential(stake))
}

export interface OutputDraft {
  readonly address: Uint8Array
  /** Policy number, name in hex, quantity. */
  readonly assets?: readonly (readonly [policy: number, name: string, quantity: number])[]
  /** Plutus data, inline. */
  readonly datum?: Uint8Array
  /** Content of a Plutus V3 script. */
  readonly script?: Uint8Array
}

export interface TransactionDraft {
  readonly inputs: readonly OutputReference[]
  readonly outputs: readonly OutputDraft[]
  readonly mint?: readonly (readonly [policy: number, name: string, quantity: number])[]
  readonly datums?: readonly Uint8Array[]
  readonly scripts?: readonly Uint8Array[]
  /** Redeemers with Plutus data; the tags are 0 for an input, 1 for a policy, 3 for a withdrawal. */
  readonly redeemers?: readonly (readonly [tag: number, index: number, data: Uint8Array])[]
  /** Numbers of scripts that withdraw zero. */
  readonly withdrawals?: readonly number[]
  /** Labels of metadata, each with the same value. */
  readonly labels?: readonly bigint[]
  /** Marks the transaction invalid: it spends this and pays it back. */
  readonly collateral?: { readonly input: OutputReference; readonly back: OutputDraft }
  /** Distinguishes transactions that are otherwise equal. */
  readonly fee?: number
}

/** A transaction as validation gives it to the store, unsigned and unbalanced. */
export function transactionOf(draft: TransactionDraft): AppliedTransaction {
  const { inputs, outputs, mint = [], datums = [], scripts = [], labels = [], collateral, fee = 0 } = draft
  const { redeemers = [], withdrawals = [] } = draft
  const body = new Map([
    [0, referencesOf(inputs)],
    [1, encodeList(outputs.map(outputOf))],
    [2, encodeUint(fee)],
  ])
  if (withdrawals.length > 0) body.set(5, withdrawalsOf(withdrawals))
  if (mint.length > 0) body.set(9, encodeAssets(assetsOf(mint)))
  if (collateral) body.set(13, referencesOf([collateral.input])).set(16, outputOf(collateral.back))
  const witnesses = new Map<number, Uint8Array>()
  if (datums.length > 0) witnesses.set(4, encodeSet(datums))
  if (redeemers.length > 0) {
    const units = encodeList([encodeUint(1_000), encodeUint(20_000)])
    const entries = redeemers.map(([tag, index, data]) =>
      encodeList([encodeUint(tag), encodeUint(index), data, units]),
    )
    witnesses.set(5, encodeList(entries))
  }
  if (scripts.length > 0) witnesses.set(7, encodeSet(scripts.map(encodeBytes)))
  const auxiliaryData = new CborWriter().map(labels.length)
  for (const label of labels) auxiliaryData.uint(label).text('a test')
  return acceptedOf(
    encodeDraft({
      body,
      witnesses,
      signers: [],
      isValid: collateral === undefined,
      ...(labels.length > 0 && { auxiliaryData: auxiliaryData.toBytes() }),
    }),
  )
}

export function genesisOf(outputs: readonly OutputDraft[]): LedgerEntry[] {
  return outputs.map((output, index) => ({
    reference: { transactionId: new Uint8Array(32).fill(0xee), index },
    output: outputOf(output),
    address: output.address,
    paymentCredential: output.address.subarray(1, 29),
  }))
}

function outputOf({ address, assets = [], datum, script }: OutputDraft): Uint8Array {
  return encodeOutput({
    address,
    lovelace: 2_000_000n,
    ...(assets.length > 0 && { assets: assetsOf(assets) }),
    ...(datum && { inlineDatum: datum }),
    ...(script && { script: encodeList([encodeUint(3), encodeBytes(script)]) }),
  })
}

function assetsOf(assets: NonNullable<OutputDraft['assets']>) {
  return assets.map(([policy, name, quantity]) => [credential(policy), name, BigInt(quantity)] as const)
}

function withdrawalsOf(scripts: readonly number[]): Uint8Array {
  const writer = new CborWriter().map(scripts.length)
  for (const number of scripts) writer.bytes(concatBytes(Uint8Array.of(0xf0), credential(number))).uint(0)
  return writer.toBytes()
}

function referencesOf(inputs: readonly OutputReference[]): Uint8Array {
  return encodeSet(inputs.map(({ transactionId, index }) => encodeInput(transactionId, index)))
}
