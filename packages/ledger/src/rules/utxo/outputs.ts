import { bootstrapAttributesSize } from '../../address/byron-attributes.js'
import type { ProtocolParameters } from '../../parameters/types.js'
import type { Transaction, TransactionOutput, Value } from '../../transaction/types.js'
import type { RuleContext } from '../context.js'
import type { Findings } from '../failures.js'

/** Overhead of an entry in the UTxO set, in bytes, added to the size of the output. */
const entryOverhead = 160
/** Maximum size of the attributes of a Byron address in an output, in bytes. */
const maxBootstrapAttributes = 64

/**
 * Returns the minimum lovelace that an output must hold: the size of `output.bytes` plus 160 bytes, times
 * `coinsPerUtxoByte`. Changing the lovelace can change the size, so a builder must repeat the calculation.
 */
export function minimumLovelace(output: TransactionOutput, parameters: ProtocolParameters): bigint {
  return BigInt(entryOverhead + output.bytes.length) * parameters.coinsPerUtxoByte
}

export function allOutputs({ body }: Transaction): readonly TransactionOutput[] {
  return body.collateralReturn ? [...body.outputs, body.collateralReturn] : body.outputs
}

/** UTXO: BabbageOutputTooSmallUTxO, OutputTooBigUTxO, OutputBootAddrAttrsTooBig. */
export function validateOutputs(
  outputs: readonly TransactionOutput[],
  { parameters }: RuleContext,
  findings: Findings,
): void {
  const small: { output: number; lovelace: string; requiredLovelace: string }[] = []
  const big: { output: number; size: number; maximum: number }[] = []
  const bloated: { output: number; size: number }[] = []
  outputs.forEach((output, position) => {
    const required = minimumLovelace(output, parameters)
    const { lovelace } = output.value
    if (lovelace < required) {
      small.push({ output: position, lovelace: String(lovelace), requiredLovelace: String(required) })
    }
    // A value is smaller than its output, so most values need not be measured.
    if (output.bytes.length > parameters.maxValueSize) {
      const size = valueSize(output.value)
      if (size > parameters.maxValueSize)
        big.push({ output: position, size, maximum: parameters.maxValueSize })
    }
    if (output.address.kind === 'byron') {
      const size = bootstrapAttributesSize(output.address)
      if (size > maxBootstrapAttributes) bloated.push({ output: position, size })
    }
  })
  if (small.length > 0) {
    findings.add('BabbageOutputTooSmallUTxO', 'An output holds too little lovelace for its size', {
      outputs: small,
    })
  }
  if (big.length > 0) {
    findings.add('OutputTooBigUTxO', 'The value of an output is too large', { outputs: big })
  }
  if (bloated.length > 0) {
    findings.add('OutputBootAddrAttrsTooBig', 'The attributes of a Byron address are too large', {
      outputs: bloated,
      maximum: maxBootstrapAttributes,
    })
  }
}

/** The size of a value in the ledger's own encoding, which `maxValueSize` limits for every encoding. */
function valueSize({ lovelace, assets }: Value): number {
  const coin = headSize(lovelace)
  if (assets.size === 0) return coin
  let size = 1 + coin + headSize(BigInt(assets.size))
  for (const [policy, names] of assets) {
    const policyLength = policy.length / 2
    size += headSize(BigInt(policyLength)) + policyLength + headSize(BigInt(names.size))
    for (const [name, quantity] of names) {
      const nameLength = name.length / 2
      size += headSize(BigInt(nameLength)) + nameLength + headSize(quantity)
    }
  }
  return size
}

/** The size in bytes of a CBOR head with this argument, in its shortest form. */
function headSize(argument: bigint): number {
  if (argument < 24n) return 1
  if (argument < 0x100n) return 2
  if (argument < 0x1_0000n) return 3
  return argument < 0x1_0000_0000n ? 5 : 9
}
