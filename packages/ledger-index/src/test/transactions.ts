import { CborWriter, concatBytes, fromHex } from '@ratatosk/cbor'
import type { OutputReference } from '@ratatosk/ledger'
import type { AcceptedTransaction, LedgerEntry } from '@ratatosk/store'
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
  /** Marks the transaction invalid: it spends this and pays it back. */
  readonly collateral?: { readonly input: OutputReference; readonly back: OutputDraft }
  /** Distinguishes transactions that are otherwise equal. */
  readonly fee?: number
}

/**
 * A transaction as validation hands it to the store. It is not valid: nobody signs it and nothing balances.
 */
export function transactionOf(draft: TransactionDraft): AcceptedTransaction {
  const { inputs, outputs, mint = [], datums = [], scripts = [], collateral, fee = 0 } = draft
  const writer = new CborWriter().array(4)
  writer.map(3 + (mint.length > 0 ? 1 : 0) + (collateral === undefined ? 0 : 2))
  writer.uint(0).tag(258).array(inputs.length)
  for (const input of inputs) writeReference(writer, input)
  writer.uint(1).array(outputs.length)
  for (const output of outputs) writer.raw(encodeOutput(output))
  writer.uint(2).uint(fee)
  if (mint.length > 0) writeAssets(writer.uint(9), mint)
  if (collateral !== undefined) {
    writeReference(writer.uint(13).tag(258).array(1), collateral.input)
    writer.uint(16).raw(encodeOutput(collateral.back))
  }
  writer.map((datums.length > 0 ? 1 : 0) + (scripts.length > 0 ? 1 : 0))
  if (datums.length > 0) {
    writer.uint(4).tag(258).array(datums.length)
    for (const datum of datums) writer.raw(datum)
  }
  if (scripts.length > 0) {
    writer.uint(7).tag(258).array(scripts.length)
    for (const script of scripts) writer.bytes(script)
  }
  const cbor = writer
    .boolean(collateral === undefined)
    .null()
    .toBytes()
  return acceptedOf(cbor)
}

export function genesisOf(outputs: readonly OutputDraft[]): LedgerEntry[] {
  return outputs.map((output, index) => ({
    reference: { transactionId: new Uint8Array(32).fill(0xee), index },
    output: encodeOutput(output),
    address: output.address,
    paymentCredential: output.address.subarray(1, 29),
  }))
}

function encodeOutput({ address, assets = [], datum, script }: OutputDraft): Uint8Array {
  const writer = new CborWriter().map(2 + (datum ? 1 : 0) + (script ? 1 : 0))
  writer.uint(0).bytes(address).uint(1)
  if (assets.length === 0) writer.uint(2_000_000)
  else writeAssets(writer.array(2).uint(2_000_000), assets)
  if (datum) writer.uint(2).array(2).uint(1).tag(24).bytes(datum)
  if (script) {
    writer.uint(3).tag(24).bytes(new CborWriter().array(2).uint(3).bytes(script).toBytes())
  }
  return writer.toBytes()
}

function writeAssets(
  writer: CborWriter,
  assets: readonly (readonly [policy: number, name: string, quantity: number])[],
): void {
  const policies = [...new Set(assets.map(([policy]) => policy))]
  writer.map(policies.length)
  for (const policy of policies) {
    const own = assets.filter(([other]) => other === policy)
    writer.bytes(credential(policy)).map(own.length)
    for (const [, name, quantity] of own) writer.bytes(fromHex(name)).int(quantity)
  }
}

function writeReference(writer: CborWriter, { transactionId, index }: OutputReference): void {
  writer.array(2).bytes(transactionId).uint(index)
}
