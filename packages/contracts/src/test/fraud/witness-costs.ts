import { blake2b256 } from '@ratatosk/ledger'
import { witnessFraudScript } from '../../fraud/scripts.js'
import { encodeWitnessFraudProof, type WitnessFraudProof } from '../../fraud/witness-proofs.js'
import { parameters } from '../evaluate.js'
import { testKey } from '../keys.js'
import { operator } from '../world.js'
import { blockOf, outputRecord, payment } from './blocks.js'
import { fillers, measuredSizes } from './fillers.js'
import type { ProvenLie } from './measure-proof.js'
import { needs, places, prove } from './witness-lies.js'
import {
  bob,
  carol,
  coinsBefore,
  datumA,
  datumB,
  dave,
  erin,
  everything,
  grace,
  lastPayment,
  locker,
  minter,
  referenced,
  vault,
} from './witness-story.js'
import { hashOf, witnessed } from './witnessed.js'

const crowd = Array.from({ length: 100 }, (_, index) => testKey(`crowd ${index}`))
/** Two transactions that lack all kinds of witnesses, the second among a hundred signatures. */
function manyLies() {
  const outputs = coinsBefore()
  const { signers, redeemers } = everything
  const first = witnessed({
    ...everything,
    signers: signers.filter((key) => key !== erin && key !== bob),
    signed: (key, id) => (key === carol ? new Uint8Array(32) : id),
    plutus: [locker],
    redeemers: redeemers.filter((_, index) => index !== 1),
    datums: [datumB],
    scriptDataHash: blake2b256(datumA),
  })
  const second = witnessed({
    ...lastPayment,
    required: [grace.hash],
    signers: [dave, ...crowd.slice(1)],
    signed: (key, id) => (key === crowd.at(-1) ? new Uint8Array(32) : id),
  })
  return blockOf([first.cbor, second.cbor], outputs, {
    entries(entries) {
      for (const key of fillers(measuredSizes.entries, [...entries.keys()]))
        entries.set(key, outputRecord(0n, 1n, payment(1, 2_000_000n)))
    },
    header: { operatorVkey: operator.hash },
  })
}

/** One proof of each kind, in a block with a map of {@link measuredSizes}. */
export function proveManyWitnessLies(): ProvenLie[] {
  const block = manyLies()
  const { spent, minted, required } = needs
  const proofs: readonly (readonly [what: string, proof: WitnessFraudProof])[] = [
    ['`invalidSignature`', prove.invalidSignature(0, 1)(block)],
    ['`invalidSignature`, the last of 100', prove.invalidSignature(1, 99)(block)],
    ['`missingSignature`', prove.missingSignature(0, spent(places.erins))(block)],
    ['`missingSignature`, among 100', prove.missingSignature(1, required(grace.hash))(block)],
    ['`nativeScriptFails`', prove.nativeScriptFails(0, spent(places.vault), vault)(block)],
    ['`scriptMissing`', prove.scriptMissing(0, minted(hashOf(minter)))(block)],
    ['`redeemerMissing`', prove.redeemerMissing(0, spent(places.lockedByReference), referenced)(block)],
    ['`datumMissing`', prove.datumMissing(0, places.locked)(block)],
    ['`wrongScriptDataHash`', prove.wrongScriptDataHash(0)(block)],
  ]
  const { header } = block
  const script = witnessFraudScript(parameters)
  return proofs.map(([what, proof]) => ({
    what,
    header,
    script,
    redeemer: encodeWitnessFraudProof(header, proof),
  }))
}
