import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { encodeLedgerFraudProof, type LedgerFraudProof, openTransaction } from '@ratatosk/fraud'
import { blake2b256 } from '@ratatosk/ledger'
import { ledgerFraudScript } from '../../../fraud/scripts.js'
import { operator } from '../../world.js'
import {
  blockOf,
  coin0,
  coin1,
  coin2,
  eight,
  first,
  hexOf,
  hexOfPosition,
  outputOf,
  outputRecord,
  outputsBefore,
  patch,
  payment,
  story,
} from '../blocks.js'
import { fillers, measuredSizes } from '../fillers.js'
import type { ProvenLie } from '../measure-proof.js'
import { honestHashes, prove, storyKeys } from './statements.js'

const { made, unspent, beyond } = storyKeys
const strangeKey = new Uint8Array(7)
/** Wrong for the input, and for the second reference input. */
const hashes = (): Uint8Array =>
  concatBytes(new Uint8Array(32), honestHashes().subarray(32, 64), new Uint8Array(32))
/** Positions up to some that the block does not have. */
const positions = Array.from({ length: 10 }, (_, position) => hexOfPosition(position))

/** A block that lies about everything at once. */
function manyLies() {
  const outputs = outputsBefore()
  const { outputs: unspentCount, entries: entryCount } = measuredSizes
  for (const key of fillers(unspentCount, [...outputs.keys(), ...[made, unspent, beyond].map(hexOf)]))
    outputs.set(key, payment(1, 2_000_000n))
  return blockOf(story, outputs, {
    entries(entries) {
      const noted = [...entries.keys(), ...positions, hexOf(beyond), toHex(strangeKey)]
      for (const key of fillers(entryCount, noted, unspentCount))
        entries.set(key, outputRecord(0n, 1n, payment(1, 2_000_000n)))
      patch(entries, hexOf(coin0), 8, eight(3n))
      patch(entries, hexOf(coin1), 16, new Uint8Array(32))
      patch(entries, hexOf(made), 8, eight(1n))
      patch(entries, hexOf(unspent), 8, concatBytes(eight(1n), new Uint8Array(32)))
      entries.set(hexOf(beyond), outputRecord(1n, 0n, payment(1, 1n)))
      entries.set(hexOfPosition(5), entries.get(hexOfPosition(2))!)
      patch(entries, hexOfPosition(1), 65, blake2b256(hashes()))
      patch(entries, hexOfPosition(2), 97, eight(0n))
      entries.set(toHex(strangeKey), fromHex('00'))
    },
    after: (after) => after.delete(hexOf(coin2)),
    header: { operatorVkey: operator.hash },
  })
}

/** One proof of each kind, in a block with maps of {@link measuredSizes}. */
export function proveManyLies(): ProvenLie[] {
  const block = manyLies()
  const proofs: readonly LedgerFraudProof[] = [
    prove.inputSpentElsewhere(0, 0, coin0)(block),
    prove.spentWithoutInput(coin0, 2)(block),
    prove.outputNotNoted(0, 1)(block),
    prove.inventedOutput(beyond, (of) => ({ transaction: openTransaction(of, 0), index: 7 }))(block),
    prove.spentThatNeverWas(coin1)(block),
    prove.spentBeforeMade(made)(block),
    prove.wrongOutputsAfter(coin2)(block),
    prove.wrongResolved(0, outputOf(first, 0), hashes())(block),
    prove.wrongResolved(2, coin2, hashes())(block),
    prove.wrongResolvedHash(1, [outputOf(first, 0), outputOf(first, 1), coin2])(block),
    prove.referenceInputMissing(1, 0, unspent)(block),
    prove.gap(3, 5)(block),
    prove.strangeEntry(strangeKey)(block),
    prove.wrongFees(2)(block),
  ]
  const { header } = block
  const script = ledgerFraudScript()
  const ofReference = '`wrongResolved`, a reference input'
  return proofs.map((proof) => ({
    what: proof.fraud === 'wrongResolved' && proof.index > 0 ? ofReference : `\`${proof.fraud}\``,
    header,
    script,
    redeemer: encodeLedgerFraudProof(header, proof),
  }))
}
