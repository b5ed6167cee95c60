import { toHex } from '../../bytes.js'
import { blake2b256 } from '../../crypto/blake2b.js'
import type { Transaction } from '../../transaction/types.js'
import type { RuleContext } from '../context.js'
import type { Findings } from '../verdict.js'
import { metadataIsValid } from './metadata.js'
import { isWellFormedScript } from './well-formed-scripts.js'

/** UTXOW: MissingTxMetadata, MissingTxBodyMetadataHash, ConflictingMetadataHash, InvalidMetadata. */
export function judgeAuxiliaryData(
  { body, auxiliaryData }: Transaction,
  { parameters }: RuleContext,
  findings: Findings,
): void {
  const declared = body.auxiliaryDataHash && toHex(body.auxiliaryDataHash)
  if (auxiliaryData === undefined) {
    if (declared !== undefined) {
      findings.add('MissingTxMetadata', 'The body names auxiliary data that is not there', { hash: declared })
    }
    return
  }
  const actual = toHex(blake2b256(auxiliaryData.bytes))
  if (declared === undefined) {
    findings.add('MissingTxBodyMetadataHash', 'The body does not name the auxiliary data', { hash: actual })
    return
  }
  if (declared !== actual) {
    findings.add('ConflictingMetadataHash', 'The body names other auxiliary data', { declared, actual })
  }
  const { major } = parameters.protocolVersion
  if (
    !metadataIsValid(auxiliaryData.bytes) ||
    !auxiliaryData.scripts.every((script) => isWellFormedScript(script, major))
  ) {
    findings.add(
      'InvalidMetadata',
      'A string of the metadata is longer than 64 bytes, or a script is malformed',
    )
  }
}
