import { toHex } from '@ratatosk/cbor'
import { blake2b256 } from '#crypto'
import type { Transaction } from '../../transaction/types.js'
import type { RuleContext } from '../context.js'
import type { Findings } from '../failures.js'
import { isWellFormedScript } from './well-formed-scripts.js'

/** UTXOW: MissingTxMetadata, MissingTxBodyMetadataHash, ConflictingMetadataHash, InvalidMetadata. */
export function validateAuxiliaryData(
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
  // The decoder limits the size of metadata strings; only the scripts remain to be checked.
  const { major } = parameters.ledgerVersion
  const malformed = auxiliaryData.scripts.filter((script) => !isWellFormedScript(script, major))
  if (malformed.length > 0) {
    findings.add('InvalidMetadata', 'A script in the auxiliary data cannot be read', {
      scripts: malformed.map(({ hash }) => toHex(hash)),
    })
  }
}
