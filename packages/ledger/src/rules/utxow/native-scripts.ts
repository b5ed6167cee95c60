import type { BytesSet } from '@ratatosk/cbor'
import type { NativeScript, Transaction, ValidityInterval } from '../../transaction/types.js'
import type { Findings } from '../failures.js'
import type { ScriptUse } from '../script-use.js'

/**
 * Whether a native script is satisfied. Time locks are compared with the validity interval of the
 * transaction, not with the slot: an open bound satisfies no time lock.
 *
 * @param signed the hashes of the keys that have signed
 */
export function satisfies(script: NativeScript, signed: BytesSet, interval: ValidityInterval): boolean {
  switch (script.kind) {
    case 'signature':
      return signed.has(script.keyHash)
    case 'all':
      return script.scripts.every((part) => satisfies(part, signed, interval))
    case 'any':
      return script.scripts.some((part) => satisfies(part, signed, interval))
    case 'at-least': {
      let left = script.required
      for (const part of script.scripts) {
        if (left <= 0n) break
        if (satisfies(part, signed, interval)) left -= 1n
      }
      return left <= 0n
    }
    case 'invalid-before':
      return interval.invalidBefore !== undefined && script.slot <= interval.invalidBefore
    case 'invalid-hereafter':
      return interval.invalidHereafter !== undefined && interval.invalidHereafter <= script.slot
  }
}

/** UTXOW: ScriptWitnessNotValidatingUTXOW. Only the scripts that the transaction needs are evaluated. */
export function validateNativeScripts(
  { body }: Transaction,
  signed: BytesSet,
  { neededHashes, provided }: ScriptUse,
  findings: Findings,
): void {
  const unsatisfied: string[] = []
  for (const hash of neededHashes) {
    const script = provided.get(hash)
    if (script?.language === 'native' && !satisfies(script.script, signed, body.validityInterval)) {
      unsatisfied.push(hash)
    }
  }
  if (unsatisfied.length === 0) return
  findings.add('ScriptWitnessNotValidatingUTXOW', 'A native script is not satisfied', {
    scripts: unsatisfied,
  })
}
