import { encodeWitnessFraudProof, type WitnessFraudProof } from '@ratatosk/fraud'
import { blake2b256 } from '@ratatosk/ledger'
import { witnessFraudScript } from '../../../fraud/scripts.js'
import { parameters } from '../../evaluate.js'
import { operator } from '../../world.js'
import { blockOf, outputRecord, payment } from '../blocks.js'
import { fillers, measuredSizes } from '../fillers.js'
import type { ProvenLie } from '../measure-proof.js'
import { multisig, type OrdinaryFraud, ordinaryCoins, ordinaryTransactions } from '../transaction/ordinary.js'
import { needs, places, prove } from './lies.js'
import {
  bob,
  carol,
  coinsBefore,
  datumA,
  datumB,
  erin,
  everything,
  locker,
  minter,
  referenced,
  vault,
} from './story.js'
import { hashOf, witnessed } from './witnessed.js'

const { signers, redeemers } = everything
/** A transaction that needs every kind of witness, and lacks one of each. */
export const richTransaction = witnessed({
  ...everything,
  signers: signers.filter((key) => key !== erin && key !== bob),
  signed: (key, id) => (key === carol ? new Uint8Array(32) : id),
  plutus: [locker],
  redeemers: redeemers.filter((_, index) => index !== 1),
  datums: [datumB],
  scriptDataHash: blake2b256(datumA),
})

/** The rich transaction, and ordinary transactions, each of which lacks one witness. */
function manyLies() {
  const outputs = new Map([...coinsBefore(), ...ordinaryCoins()])
  const transactions = [richTransaction, ...ordinaryTransactions].map(({ cbor }) => cbor)
  return blockOf(transactions, outputs, {
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
  const { spent, minted } = needs
  const placeOf = (fraud: OrdinaryFraud) =>
    1 + ordinaryTransactions.findIndex((transaction) => transaction.fraud === fraud)
  const proofs: readonly (readonly [what: string, proof: WitnessFraudProof])[] = [
    ['`invalidSignature`', prove.invalidSignature(0, 1)(block)],
    ['`missingSignature`', prove.missingSignature(0, spent(places.erins))(block)],
    ['`nativeScriptFails`', prove.nativeScriptFails(placeOf('nativeScriptFails'), spent(0), multisig)(block)],
    ['`nativeScriptFails`, rich', prove.nativeScriptFails(0, spent(places.vault), vault)(block)],
    ['`scriptMissing`', prove.scriptMissing(placeOf('scriptMissing'), spent(0))(block)],
    ['`scriptMissing`, rich', prove.scriptMissing(0, minted(hashOf(minter)))(block)],
    ['`redeemerMissing`', prove.redeemerMissing(placeOf('redeemerMissing'), spent(0), locker)(block)],
    ['`redeemerMissing`, rich', prove.redeemerMissing(0, spent(places.lockedByReference), referenced)(block)],
    ['`datumMissing`', prove.datumMissing(placeOf('datumMissing'), 0)(block)],
    ['`datumMissing`, rich', prove.datumMissing(0, places.locked)(block)],
    ['`wrongScriptDataHash`', prove.wrongScriptDataHash(placeOf('wrongScriptDataHash'))(block)],
    ['`wrongScriptDataHash`, rich', prove.wrongScriptDataHash(0)(block)],
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
